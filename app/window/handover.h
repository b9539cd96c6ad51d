#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/commands/window_memory.h"
#include "app/recording/run_checkpoint.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/command.h"
#include "app/ui_state/kernel_history.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/simulation.h"

namespace orrery {

// After some errors, a device accepts no more work from this process. A window then replaces its process by a new one
// of this program, which continues from the last valid state of the bodies.

/// State that the old window leaves to the new one, in addition to the checkpoint of its run.
struct Handover {
  /// A kernel file whose text becomes a kernel of the new window.
  struct Kernel {
    std::string file, text;
    int version = 1;
  };

  std::string message;  ///< why the old window ended, one line
  WindowMemory window;  ///< place of the window and state of its panels
  Requests requests;    ///< requests for the new window, in this order
  Requests picks;       ///< requests to carry out once its bodies are drawn
  CameraView camera;
  std::optional<std::string> recording;   ///< requested name of the recording; none: nothing is recorded
  std::optional<Kernel> kernel;           ///< kernel of the checkpoint, if it comes from a file
  std::optional<KernelHistory> workshop;  ///< state of the workshop; none: no file is open
  bool same_kernel = false;  ///< the checkpoint's kernel is the one that was running when the device was lost

  /// Returns the name of the run's checkpoint in the folder of a handover.
  static std::filesystem::path checkpoint_in(const std::filesystem::path& folder) { return folder / "run.checkpoint"; }
};

/// Writes the files of a handover, except the checkpoint. Throws std::runtime_error, one line.
void write_handover(const std::filesystem::path& folder, const Handover& handover);
/// Reads what write_handover() wrote. Throws std::runtime_error, one line.
Handover read_handover(const std::filesystem::path& folder);

/// Removes all files of a handover from `folder`, and the folder if it is then empty.
void remove_handover(const std::filesystem::path& folder);

/// Saves the run of a window in a checkpoint, so that the next window can continue it, even after a crash. Windows that
/// are open at the same time each have a place in the folder, under a lock.
class Autosave {
 public:
  static constexpr int most_places = 16;

  /// Takes the free place with the latest run, for checkpoints named run.checkpoint, run-2.checkpoint and so on in
  /// `folder`. An existing checkpoint becomes last-run.checkpoint, and the one before last-run.previous.checkpoint. An
  /// empty folder or a period of zero saves nothing. If another process holds windows.lock, reports that through `say`,
  /// and saves nothing if the lock is not free after `patience`.
  Autosave(std::filesystem::path folder, double period_s, const std::function<void(const std::string&)>& say = {},
           std::chrono::milliseconds patience = std::chrono::seconds{5});
  Autosave(const Autosave&) = delete;
  Autosave& operator=(const Autosave&) = delete;

  /// Returns the checkpoint that the last window left; none if there is none.
  const std::optional<std::filesystem::path>& last_run() const { return last_run_; }
  /// Returns a description such as "plummer, 16,384 bodies, t = 1.25"; empty if the checkpoint's head cannot be read.
  const std::string& last_run_words() const { return last_run_words_; }
  /// Returns the time since that checkpoint was written, in seconds; none if there is none.
  std::optional<double> last_run_age_s() const;

  /// Saves the run, on another thread, if the period has passed and the run has advanced. Call between two batches of
  /// steps. Returns one line if the previous save failed, otherwise an empty text.
  std::string follow(Simulation& simulation);
  /// Saves the run if it has advanced since it was saved or continued, and waits until it is written. Call at the end
  /// of the window. Returns what follow() returns.
  std::string finish(Simulation& simulation);
  /// Records that the run of the last window continues from `step`.
  void continued(std::int64_t step) { saved_step_ = step; }

 private:
  using Clock = std::chrono::steady_clock;

  void take_place(const std::function<void(const std::string&)>& say, std::chrono::milliseconds patience);
  bool keeps() const { return !folder_.empty() && period_s_ > 0; }
  /// Returns whether the run has advanced since it was saved, and its state is finite.
  bool has_gone_on(const Simulation& simulation) const;
  void write(const RunCheckpoint& checkpoint);
  std::filesystem::path file(const char* stem, int place, const char* ending) const;
  /// Returns when a run of this place was last written; none: there is none.
  std::optional<std::filesystem::file_time_type> written(int place) const;

  const std::filesystem::path folder_;
  const double period_s_;
  std::optional<int> place_;  // index from 0; none: nothing is saved
  Descriptor lock_;
  std::optional<std::filesystem::path> last_run_;
  std::filesystem::file_time_type last_run_written_{};
  std::string last_run_words_;
  Clock::time_point saved_ = Clock::now();
  std::int64_t saved_step_ = 0;
  std::string failure_;  // failure of the last save, one line
  std::atomic<bool> writing_ = false;
  std::jthread writer_;  // last, because it uses the members above
};

}  // namespace orrery
