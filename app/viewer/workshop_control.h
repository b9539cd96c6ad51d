#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/ui_state/status.h"
#include "app/ui_state/workshop_commands.h"
#include "app/ui_state/workshop_status.h"
#include "app/viewer/shown_bodies.h"
#include "app/workshop/compiler_process.h"
#include "app/workshop/kernel_workshop.h"
#include "app/workshop/placed_kernel.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// The workshop of the window: makes each correct version of the kernel file a kernel of the catalog, and asks for it.
class WorkshopControl {
 public:
  /// Both must outlive this.
  WorkshopControl(KernelCatalog& kernels, const Backends& backends);

  // These throw as the calls of KernelWorkshop.
  void open(const std::string& file);
  void open_new(const NewKernelFile& asked);
  void close();
  void compile_again();
  void save(const std::string& text);
  void bring_back(int version);

  /// Call once per frame, and while a frame waits for the check: hands it the bodies that it asks for.
  void answer(Simulation& simulation) { shown_bodies_.answer(simulation); }
  /// Call once per frame. The command that selects a new correct version; none if there is none, or the user has
  /// selected another kernel since one of the file's was shown.
  std::optional<SelectKernel> tick(const Status& shown, WorkshopStatus& status);
  /// Adds the times of those versions that are among the results, with the system that is shown.
  void add_step_times(const Status& shown, std::span<const Result> results, WorkshopStatus& status) const;
  /// The command of tick() failed: the version before is the catalog's again.
  void refused(const std::string& why);
  /// Why the latest version was rejected, one line; empty if it was not, and after the first call.
  std::string take_rejection(const WorkshopStatus& status);
  bool busy() const { return workshop_ && workshop_->busy(); }
  /// What does not change while the program runs.
  static void describe_sources(const Backends& backends, WorkshopStatus& status);

 private:
  KernelWorkshop& opened();
  std::vector<FileMessage> compile(const KernelFile& file, const Settings::Values& values,
                                   const std::function<bool()>& cancelled) const;
  KernelCheck check(const KernelFile& file, const Settings::Values& values, const std::function<bool()>& cancelled);

  KernelCatalog& kernels_;
  const Backends& backends_;
  PlacedKernel placed_;
  bool first_ = false;                // none of the open file's versions was shown: the next is, whatever is shown
  std::pair<int, std::string> told_;  // the text, and why it was rejected, that take_rejection() returned
  ShownBodies shown_bodies_;
  std::shared_ptr<SpareCompilers> compilers_ = std::make_shared<SpareCompilers>();
  std::unique_ptr<KernelWorkshop> workshop_;  // null until a file is opened; last, so that its thread ends first
};

}  // namespace orrery
