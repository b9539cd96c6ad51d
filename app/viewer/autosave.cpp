#include "app/viewer/autosave.h"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/text/printable.h"
#include "compute/core/failure_text.h"
#include "compute/core/format_count.h"
#include "compute/core/start_thread.h"

namespace orrery {

namespace fs = std::filesystem;

namespace {

std::string words_of_checkpoint(const fs::path& file) {
  try {
    const CheckpointSummary summary = summary_of_checkpoint(file.string());
    const SceneRequest& scene = summary.scene;
    return fmt::format("{}, {}, t = {:.4g}",
                       scene.file.empty() ? scene.scene : printable(fs::path{scene.file}.filename().string()),
                       counted(summary.bodies, "body", "bodies"), summary.time);
  } catch (const std::exception&) {
    return {};  // who continues it learns why it cannot be read
  }
}

/// Waits for the lock, but no longer than `patience`. None: another process held it all the time.
std::optional<Descriptor> lock_in_time(const fs::path& file, const std::function<void(const std::string&)>& say,
                                       std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds soon{500}, pause{20};
  const auto begin = std::chrono::steady_clock::now();
  for (bool said = false;;) {
    if (std::optional<Descriptor> lock = locked_file(file, false)) return lock;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= patience) return std::nullopt;
    if (!said && waited >= soon && say) {
      say(fmt::format("waits for another process, which holds '{}'", printable(file.string())));
      said = true;
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Autosave::Autosave(fs::path folder, double period_s, const std::function<void(const std::string&)>& say,
                   std::chrono::milliseconds patience)
    : folder_{std::move(folder)}, period_s_{period_s} {
  if (folder_.empty()) return;
  take_place(say, patience);
  if (!place_) return;
  std::error_code unknown;
  const fs::path last = file("last-run", *place_, ".checkpoint"), run = file("run", *place_, ".checkpoint");
  if (fs::exists(run, unknown)) {
    fs::rename(last, previous_name(last.string()), unknown);
    fs::rename(run, last, unknown);
  }
  last_run_written_ = fs::last_write_time(last, unknown);
  if (unknown) return;
  last_run_ = last;
  last_run_words_ = words_of_checkpoint(last);
}

fs::path Autosave::file(const char* stem, int place, const char* ending) const {
  const std::string number = place == 0 ? "" : '-' + std::to_string(place + 1);
  return folder_ / (stem + number + ending);
}

std::optional<fs::file_time_type> Autosave::written(int place) const {
  std::optional<fs::file_time_type> latest;
  for (const char* const stem : {"run", "last-run"}) {
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(file(stem, place, ".checkpoint"), missing);
    if (!missing && (!latest || time > *latest)) latest = time;
  }
  return latest;
}

void Autosave::take_place(const std::function<void(const std::string&)>& say, std::chrono::milliseconds patience) {
  std::error_code later;  // when it is written
  fs::create_directories(folder_, later);
  const fs::path lock = folder_ / "windows.lock";
  const std::optional<Descriptor> one_window_at_a_time = lock_in_time(lock, say, patience);
  if (!one_window_at_a_time) {
    failure_ = fmt::format("this window does not keep its run: another process holds '{}'", printable(lock.string()));
    return;
  }
  std::optional<fs::file_time_type> latest;
  for (int place = 0; place < most_places; ++place) {
    const std::optional<fs::file_time_type> time = written(place);
    if (place_ && (!time || (latest && *time <= *latest))) continue;
    std::optional<Descriptor> own = locked_file(file("run", place, ".lock"), false);
    if (!own) continue;
    latest = time;
    place_ = place;
    lock_ = std::move(*own);
  }
  if (!place_) failure_ = "this window does not keep its run: as many windows are open as can keep theirs";
}

std::optional<double> Autosave::last_run_age_s() const {
  if (!last_run_) return {};
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - last_run_written_).count();
}

bool Autosave::has_gone_on(const Simulation& simulation) const {
  return !simulation.status().non_finite && simulation.status().step != saved_step_;
}

void Autosave::write(const RunCheckpoint& checkpoint) {
  try {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      throw std::runtime_error(fmt::format("no folder '{}' can be made: {}", folder_.string(), error.message()));
    keep_checkpoint(file("run", *place_, ".checkpoint").string(), checkpoint);
  } catch (const std::exception& error) {
    failure_ = std::string{"the run is not saved for the next window: "} + failure_text(error);
  }
}

std::string Autosave::follow(Simulation& simulation) {
  if (!keeps() || writing_) return {};
  std::string failure = std::exchange(failure_, {});
  if (!place_) return failure;
  const bool due = std::chrono::duration<double>(Clock::now() - saved_).count() >= period_s_;
  if (!due || !simulation.idle() || !has_gone_on(simulation)) return failure;
  saved_ = Clock::now();
  saved_step_ = simulation.status().step;
  auto checkpoint = std::make_shared<const RunCheckpoint>(checkpoint_of(simulation));
  writing_ = true;
  writer_ = start_thread([this, checkpoint] {
    write(*checkpoint);
    writing_ = false;
  });
  return failure;
}

std::string Autosave::finish(Simulation& simulation) {
  if (!keeps()) return {};
  if (writer_.joinable()) writer_.join();
  if (place_ && has_gone_on(simulation)) write(checkpoint_of(simulation));
  return std::exchange(failure_, {});
}

}  // namespace orrery
