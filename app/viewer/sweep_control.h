#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/lab/sweep/sweep.h"
#include "app/recording/sweep_report.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {

/// What StartSweep asks for, made from the system that is shown: its scene's first state, integrator, law, dt and
/// softening, and its kernel's settings where they are not varied. Throws UsageError; std::runtime_error for a kernel
/// that cannot run here.
SweepPlan sweep_plan(const Backends& backends, const StartSweep& asked, const Status& shown);

/// Throws UsageError for a command that would run steps of the shown system, or choose its kernel by measuring: that
/// would be measured as well.
void refuse_while_sweeping(const Command& command, const Status& shown);

/// The one sweep that runs beside the shown simulation, which is paused meanwhile.
class SweepControl {
 public:
  /// `backends` must outlive this.
  explicit SweepControl(const Backends& backends) : backends_{backends} {}
  /// Throws as sweep_plan(), and UsageError while a sweep is under way or a kernel is being chosen; nothing has changed
  /// then.
  void start(const StartSweep& asked, Simulation& shown, SweepStatus& status);
  /// Once a frame; returns whether the sweep ended with it, and then its files lie where `status` says.
  bool tick(Simulation& shown, SweepStatus& status);
  /// Ends it, keeping what was measured. Returns whether one was under way.
  bool stop(Simulation& shown, SweepStatus& status);

 private:
  void tick_sweep();
  void describe(SweepStatus& status) const;
  void end(Simulation& shown, SweepStatus& status);

  const Backends& backends_;
  bool resume_ = false;  // the shown simulation ran before
  std::optional<Sweep> sweep_;
  std::vector<double> held_s_;         // by entry, and of the one under way
  std::optional<SweepReport> report_;  // below the sweep, which it looks at
};

}  // namespace orrery
