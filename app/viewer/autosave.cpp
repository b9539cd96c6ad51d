#include "app/viewer/autosave.h"

#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "app/runs/run_checkpoint.h"
#include "compute/core/start_thread.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr const char* present_run = "run.checkpoint";

}  // namespace

Autosave::Autosave(fs::path folder, double period_s) : folder_{std::move(folder)}, period_s_{period_s} {
  if (folder_.empty()) return;
  std::error_code unknown;
  const fs::path last = folder_ / "last-run.checkpoint";
  fs::rename(folder_ / present_run, last, unknown);
  last_run_written_ = fs::last_write_time(last, unknown);
  if (!unknown) last_run_ = last;
}

std::optional<double> Autosave::last_run_age_s() const {
  if (!last_run_) return {};
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - last_run_written_).count();
}

std::string Autosave::follow(Simulation& simulation) {
  if (folder_.empty() || period_s_ == 0 || writing_) return {};
  std::string failure = std::exchange(failure_, {});
  const Status& status = simulation.status();
  if (std::chrono::duration<double>(Clock::now() - saved_).count() < period_s_ || !simulation.idle() ||
      status.non_finite || status.step == saved_step_) {
    return failure;
  }
  saved_ = Clock::now();
  saved_step_ = status.step;
  auto checkpoint = std::make_shared<const RunCheckpoint>(checkpoint_of(simulation));
  writing_ = true;
  writer_ = start_thread([this, checkpoint] {
    try {
      fs::create_directories(folder_);
      keep_checkpoint((folder_ / present_run).string(), *checkpoint);
    } catch (const std::exception& error) {
      failure_ = std::string{"the run is not saved for the next window: "} + error.what();
    }
    writing_ = false;
  });
  return failure;
}

}  // namespace orrery
