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

// After some errors, a device does nothing more for this process. A window then starts this program again in its own
// place. The new program continues from the last good state of the bodies.

/// State that the old window leaves to the new one, beside the checkpoint of its run.
struct Handover {
  /// The text of a kernel file that becomes a kernel.
  struct Kernel {
    std::string file, text;
    int version = 1;
  };

  std::string message;  ///< what has happened, one line
  WindowMemory window;  ///< its place, and how its panels are
  Requests requests;    ///< for the new window, in this order
  Requests picks;       ///< once its bodies are drawn
  CameraView camera;
  std::optional<std::string> recording;   ///< the name that was asked for; none: nothing is recorded
  std::optional<Kernel> kernel;           ///< the checkpoint's, if it is from a file
  std::optional<KernelHistory> workshop;  ///< none: no file is open
  bool same_kernel = false;               ///< the checkpoint's kernel is the one that ran when the device was lost

  /// The checkpoint of the run in the folder of a handover.
  static std::filesystem::path checkpoint_in(const std::filesystem::path& folder) { return folder / "run.checkpoint"; }
};

/// Both throw std::runtime_error, one line.
void write_handover(const std::filesystem::path& folder, const Handover& handover);
Handover read_handover(const std::filesystem::path& folder);

/// Removes what the functions above and the old window wrote into `folder`, and the folder if it is empty then.
void remove_handover(const std::filesystem::path& folder);

/// Keeps the run of a window in a checkpoint, so that the next window can continue it, also after a crash. Windows that
/// are open at the same time have a place each in the folder, under a lock.
class Autosave {
 public:
  static constexpr int most_places = 16;

  /// Writes to run.checkpoint in `folder`, or run-2.checkpoint and so on. One that is there becomes
  /// last-run.checkpoint, which stays until the end, and the one before last-run.previous.checkpoint. Of the places
  /// that no open window has, it takes the one with the latest run. An empty folder or a period of zero: keeps nothing.
  /// While another process holds windows.lock in the folder, it says so through `say`, and after `patience` keeps
  /// nothing.
  Autosave(std::filesystem::path folder, double period_s, const std::function<void(const std::string&)>& say = {},
           std::chrono::milliseconds patience = std::chrono::seconds{5});
  Autosave(const Autosave&) = delete;
  Autosave& operator=(const Autosave&) = delete;

  /// The checkpoint that the last window left; none: it left none.
  const std::optional<std::filesystem::path>& last_run() const { return last_run_; }
  /// "plummer, 16,384 bodies, t = 1.25"; empty if the beginning of its file cannot be read.
  const std::string& last_run_words() const { return last_run_words_; }
  /// Seconds since that checkpoint was written.
  std::optional<double> last_run_age_s() const;

  /// Call between two batches of steps. Saves once the period has passed, if the run has advanced. Writes in a thread
  /// of its own. Returns one line if the previous save failed, else nothing.
  std::string follow(Simulation& simulation);
  /// Call at the end of the window. Saves if the run has advanced since it was saved or continued, and waits until it
  /// is written. Returns as follow().
  std::string finish(Simulation& simulation);
  /// Call when the run of the last window is continued from `step`.
  void continued(std::int64_t step) { saved_step_ = step; }

 private:
  using Clock = std::chrono::steady_clock;

  void take_place(const std::function<void(const std::string&)>& say, std::chrono::milliseconds patience);
  bool keeps() const { return !folder_.empty() && period_s_ > 0; }
  /// Whether there is something to save, at a moment at which it can be.
  bool has_gone_on(const Simulation& simulation) const;
  void write(const RunCheckpoint& checkpoint);
  std::filesystem::path file(const char* stem, int place, const char* ending) const;
  /// Time at which a run of this place was last written; none: there is none.
  std::optional<std::filesystem::file_time_type> written(int place) const;

  const std::filesystem::path folder_;
  const double period_s_;
  std::optional<int> place_;  // from 0; none: nothing is kept
  Descriptor lock_;
  std::optional<std::filesystem::path> last_run_;
  std::filesystem::file_time_type last_run_written_{};
  std::string last_run_words_;
  Clock::time_point saved_ = Clock::now();
  std::int64_t saved_step_ = 0;
  std::string failure_;  // of the thread that writes
  std::atomic<bool> writing_ = false;
  std::jthread writer_;  // last: it uses the others
};

}  // namespace orrery
