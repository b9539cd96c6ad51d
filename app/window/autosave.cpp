// The checkpoint of a window's run, and what a window remembers of the one before.
#include "app/window/autosave.h"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/recording/run_checkpoint.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "app/ui_state/window_commands.h"
#include "app/window/viewer.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

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
namespace {

// Viewer: what it remembers of the window before, and the run that it continues.
/// Removes the theme, which is kept next to it, and the ends of the range, which suit one scene.
render::Appearance for_any_scene(render::Appearance appearance) {
  appearance.theme = {};
  appearance.low = appearance.high = std::nullopt;
  return appearance;
}

}  // namespace

/// Repeatable runs neither have a memory nor leave one.
WindowMemory Viewer::recalled(const ViewOptions& options, bool lockstep) {
  if (lockstep || options.fresh) return {};
  try {
    return read_window_memory(usual_memory_file());
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window of the last session is not restored: {}", failure_text(error)));
    return {};
  }
}

/// Restores the panels. Nothing is compared yet, so the results replace the tab of the comparison.
void Viewer::restore(const WindowMemory& memory) {
  for (const auto& [id, open] : memory.sections) session_.panels.folds[id] = {open, true};
  if (memory.lab) carry_out(memory.lab->tab == "compare" ? ShowLab{"results"} : *memory.lab);
  if (memory.appearance) carry_out(*memory.appearance);
  if (memory.theme) carry_out(*memory.theme);
}

/// A failure does not change the exit status: the run itself is whole. A fresh start leaves what was remembered.
void Viewer::remember() {
  if (session_.lockstep || session_.options.fresh) return;
  try {
    write_window_memory(usual_memory_file(), present_memory(present_place()));
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window is not remembered: {}", failure_text(error)));
  }
  keep_run();
}

/// Saves the run. A failure does not change the exit status. A run that was handed over continues elsewhere.
void Viewer::keep_run() {
  if (handed_over_) return;
  try {
    if (const std::string failure = autosave_.finish(session_.lane.simulation()); !failure.empty())
      session_.complain(failure);
  } catch (const std::exception& error) {
    console::complain(fmt::format("the run is not kept: {}", failure_text(error)));
  }
}

std::optional<WindowPlace> Viewer::present_place() {
  return session_.rescue.outside([this] { return session_.surface->place(); });
}

WindowMemory Viewer::present_memory(const std::optional<WindowPlace>& place) {
  WindowMemory memory;
  for (const auto& [id, fold] : session_.panels.folds) {
    if (fold.chosen) memory.sections.emplace(id, fold.open);
  }
  const LabState& lab = session_.panels.lab;
  if (lab.folded) memory.lab = ShowLab{*lab.folded ? std::nullopt : std::optional{lab.tab}};
  if (appearance_chosen_) memory.appearance = SetAppearance{for_any_scene(session_.view.appearance)};
  if (session_.view.appearance.theme != render::Theme::dark) memory.theme = SetTheme{session_.view.appearance.theme};
  memory.place = place;
  return memory;
}

/// A question of the window's start: none where the last window is not to be remembered.
void Viewer::follow_autosave() {
  if (const std::string failure = autosave_.follow(session_.lane.simulation()); !failure.empty())
    session_.complain(failure);
  session_.view.last_run_words = autosave_.last_run_words();
  session_.view.last_run_age_s = continued_ ? std::nullopt : autosave_.last_run_age_s();
}

void Viewer::carry_out(const ContinueLastRun&) {
  if (!autosave_.last_run()) throw std::runtime_error("there is no run of an earlier window to continue");
  session_.refuse_beside_comparison("the last run continues alone");
  resume(find_checkpoint(autosave_.last_run()->string()));
  autosave_.continued(session_.lane.status().step);
  continued_ = true;
}

void Viewer::resume(const FoundCheckpoint& found) {
  const RunCheckpoint& checkpoint = found.checkpoint;
  session_.lane.simulation().resume(checkpoint.setup, checkpoint.state, checkpoint.step, checkpoint.hermite);
  for (const auto& feature : features_) feature->resumed();
  follow_scene();  // before the note, which commands would remove
  if (!found.note.empty()) session_.complain(found.note);
}

}  // namespace orrery
