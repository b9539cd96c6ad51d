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
#include "app/features/workshop/workshop_commands.h"
#include "app/features/workshop/workshop_status.h"
#include "app/process/compiler_process.h"
#include "app/ui_state/status.h"
#include "app/window/handover.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {
/// The shown bodies for a thread that checks a kernel with them: the window's thread copies them when that one asks.
class ShownBodies {
 public:
  static constexpr int most = 1 << 20;  ///< all pairs of more take too long

  struct Copy {
    std::optional<Snapshot> snapshot;  ///< none: see remark
    Law law;
    std::string remark;  ///< which bodies are not in the copy, and why, one line; empty: all are
  };

  /// Blocks until the copy is made. Call on the other thread. Of more than `most` bodies, the copy has every second
  /// one, or every third, and so on. None if `cancelled`, called every few ms, returns true. Throws std::runtime_error
  /// if they cannot be copied.
  std::optional<Copy> ask(const std::function<bool()>& cancelled);
  /// Makes the copy that was asked for. Call on the window's thread, between two frames. Does nothing while `auto`
  /// measures kernels, which a copy would end, or while steps run on a GPU, for which it would wait. A step that takes
  /// long on the processor is cancelled.
  void answer(Simulation& simulation);
  /// Whether a thread waits for the copy: it comes soonest if no new steps are started.
  bool asked() const {
    const std::lock_guard lock{mutex_};
    return asked_.has_value();
  }

 private:
  std::optional<Copy> wait_for_copy(const std::function<bool()>& cancelled);

  mutable std::mutex mutex_;  // of all below
  std::condition_variable answered_;
  std::optional<std::chrono::steady_clock::time_point> asked_;  // none: nobody waits
  std::string error_;
  std::optional<Copy> copy_;
};

/// The workshop of the window: makes each correct version of the kernel file a kernel of the catalog, and asks for it.
class WorkshopControl {
 public:
  /// Both must outlive this.
  WorkshopControl(KernelCatalog& kernels, const Backends& backends);
  /// Ends the compilations for a simulation.
  ~WorkshopControl();
  WorkshopControl(const WorkshopControl&) = delete;
  WorkshopControl& operator=(const WorkshopControl&) = delete;

  // These throw as the calls of KernelWorkshop.
  void open(const std::string& file);
  void open_new(const NewKernelFile& asked);
  void close();
  /// The kernel file and its versions, of which `failed` is not correct after all: `why`; none if no file is open.
  std::optional<KernelHistory> history_without(const KernelInfo& failed, const std::string& why) const;
  /// Part of a handover about the file and the kernel that runs. Throws KernelFileError.
  void restore(const Handover& handover);
  /// "version 2 of my.cu"; empty: the kernel is not one of the open file.
  std::string name_of(const KernelInfo& kernel) const;
  /// The name of the file that the kernel is from.
  std::string file_of(const KernelInfo& kernel) const;
  void compile_again();
  void save(const std::string& text);
  void bring_back(int version);

  /// Call once per frame, and while a frame waits for the check: hands it the bodies that it asks for.
  void answer(Simulation& simulation) { shown_bodies_.answer(simulation); }
  bool asks_for_bodies() const { return shown_bodies_.asked(); }
  /// Call once per frame. The command that selects a new correct version; none if there is none, or the user has
  /// selected another kernel since one of the file's was shown. Then call took() or refused(), now or when the command
  /// has been carried out.
  std::optional<SelectKernel> tick(const Status& shown, WorkshopStatus& status);
  /// Adds the times of those versions that are among the results, with the system that is shown.
  void add_step_times(const Status& shown, std::span<const Result> results, WorkshopStatus& status) const;
  /// Outcome of a kernel that was made beside the steps. The version that the command of tick() selected, if it was
  /// this one and runs now; 0 otherwise. A value of a setting that does not compile is shown at its lines.
  int took(const PreparedKernel& prepared);
  /// The version that the command of tick() selected runs. Returns its number.
  int took() {
    awaited_ = 0;
    return placed_.version();
  }
  /// The command of tick() failed: the version before is the catalog's again.
  void refused(const std::string& why);
  /// Brings WorkshopStatus::running and the versions that can be selected up to date.
  void describe_running(const Status& shown, WorkshopStatus& status) const;
  /// Why the latest version was rejected, one line; empty if it was not, and after the first call.
  std::string take_rejection(const WorkshopStatus& status);
  bool busy() const { return workshop_ && workshop_->busy(); }
  /// Fills in the built-in sources, which do not change while the program runs.
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
  int awaited_ = 0;     // the revision that tick() selected, if took() and refused() have not said more
  bool first_ = false;  // none of the open file's versions was shown: the next is, whatever is shown
  std::vector<WorkshopMessage> of_settings_;  // about the text with other values than the running ones
  std::pair<int, std::string> told_;          // the text, and why it was rejected, that take_rejection() returned
  ShownBodies shown_bodies_;
  std::shared_ptr<SpareCompilers> compilers_ = std::make_shared<SpareCompilers>();
  std::unique_ptr<KernelWorkshop> workshop_;  // null until a file is opened; last, so that its thread ends first
};

}  // namespace orrery
