#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/features/workshop/kernel_workshop.h"
#include "app/features/workshop/workshop.h"
#include "app/process/kernel_processes.h"
#include "app/ui_state/status.h"
#include "app/window/handover.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {
/// Copies the shown bodies for a thread that checks a kernel with them. The window's thread makes the copy on request.
class ShownBodies {
 public:
  static constexpr int most = 1 << 20;  ///< most bodies in a copy; a check of all pairs of more takes too long

  struct Copy {
    std::optional<Snapshot> snapshot;  ///< none: see remark
    Law law;
    std::string remark;  ///< one line: which bodies are missing in the copy, and why; empty: none
  };

  /// Requests a copy, and blocks until it is made. Called by the checking thread. With more than `most` bodies, the
  /// copy has every second or third one, and so on. Returns none if `cancelled`, called every 5 ms, returns true.
  /// Throws std::runtime_error if the bodies cannot be copied.
  std::optional<Copy> ask(const std::function<bool()>& cancelled);
  /// Makes a requested copy. Call on the window's thread between two frames. Does nothing while `auto` measures
  /// kernels, which a copy would end, or while steps run on a GPU, which would block. Cancels a step on the CPU that
  /// runs for 1 s after the request.
  void answer(Simulation& simulation);
  /// Returns whether a thread waits for a copy. It gets one sooner if no new steps are started.
  bool asked() const {
    const std::lock_guard lock{mutex_};
    return asked_.has_value();
  }

 private:
  std::optional<Copy> wait_for_copy(const std::function<bool()>& cancelled);

  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable answered_;
  std::optional<std::chrono::steady_clock::time_point> asked_;  // time of the request; none: no thread waits
  std::string error_;
  std::optional<Copy> copy_;
};

/// Puts each correct version of the kernel file into the catalog, and requests that the window selects it.
class WorkshopControl {
 public:
  /// Makes an object without a file. `kernels` and `backends` must outlive it.
  WorkshopControl(KernelCatalog& kernels, const Backends& backends);
  /// Cancels the compilations for a simulation.
  ~WorkshopControl();
  WorkshopControl(const WorkshopControl&) = delete;
  WorkshopControl& operator=(const WorkshopControl&) = delete;

  // These functions throw what the functions of KernelWorkshop throw.
  void open(const std::string& file);
  void open_new(const NewKernelFile& asked);
  void close();
  /// Returns the file's versions; none if no file is open. Marks the version of `failed` as not correct, with `why`.
  std::optional<KernelHistory> history_without(const KernelInfo& failed, const std::string& why) const;
  /// Restores the file and the running kernel from a handover of an earlier process. Throws KernelFileError.
  void restore(const Handover& handover);
  /// Returns the kernel's version and file: "version 2 of my.cu"; empty if it is not a kernel of the open file.
  std::string name_of(const KernelInfo& kernel) const;
  /// Returns the name of the file from which the kernel was made.
  std::string file_of(const KernelInfo& kernel) const;
  void compile_again();
  void save(const std::string& text);
  void bring_back(int version);

  /// Copies the shown bodies if a check has requested them. Call once per frame, and while a frame waits for the check.
  void answer(Simulation& simulation) { shown_bodies_.answer(simulation); }
  bool asks_for_bodies() const { return shown_bodies_.asked(); }
  /// Updates `status`. Returns the command that selects a new correct version; none if there is none. Also returns none
  /// if the user has selected another kernel since a version of the file was shown. After the command was carried out
  /// or has failed, call took() or refused(). Call tick() once per frame.
  std::optional<SelectKernel> tick(const Status& shown, WorkshopStatus& status);
  /// Adds to each version the smallest step time among its results for the shown system.
  void add_step_times(const Status& shown, std::span<const Result> results, WorkshopStatus& status) const;
  /// Takes the outcome of a kernel that was compiled while steps ran. Returns its version if the command of tick()
  /// selected it and it runs now; otherwise 0. If a setting's value does not compile, adds messages.
  int took(const PreparedKernel& prepared);
  /// Notes that the version selected by tick()'s command runs. Returns its number.
  int took() {
    awaited_ = 0;
    return placed_.version();
  }
  /// Notes that the command of tick() failed. Puts the previous version into the catalog again.
  void refused(const std::string& why);
  /// Updates WorkshopStatus::running, and which versions can be selected.
  void describe_running(const Status& shown, WorkshopStatus& status) const;
  /// Returns one line that says why the latest text was rejected; empty if it was not, or if this was returned before.
  std::string take_rejection(const WorkshopStatus& status);
  bool busy() const { return workshop_ && workshop_->busy(); }
  /// Fills in the sources of the built-in kernels, which do not change while the program runs.
  static void describe_sources(const Backends& backends, WorkshopStatus& status);

 private:
  KernelWorkshop& opened();
  KernelWorkshop& made();
  std::vector<FileMessage> compile(const KernelFile& file, const Settings::Values& values,
                                   const std::function<bool()>& cancelled) const;
  KernelCheck check(const KernelFile& file, const Settings::Values& values, const std::function<bool()>& cancelled);

  KernelCatalog& kernels_;
  const Backends& backends_;
  const std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
  PlacedKernel placed_;
  int awaited_ = 0;     // revision that tick() selected; 0 after took() or refused()
  bool first_ = false;  // no version of the open file was shown yet: the next one is selected in any case
  std::vector<WorkshopMessage> of_settings_;  // messages about values of settings that do not compile
  std::pair<int, std::string> told_;          // number of the text and reason that take_rejection() returned last
  ShownBodies shown_bodies_;
  std::shared_ptr<SpareCompilers> compilers_ = std::make_shared<SpareCompilers>();
  std::unique_ptr<KernelWorkshop> workshop_;  // null until a file is opened; last member, so that its thread ends first
};

}  // namespace orrery
