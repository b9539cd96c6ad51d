#pragma once

#include <optional>
#include <vector>

#include "app/features/sweep/sweep.h"
#include "app/lab/sweep/sweep.h"
#include "app/recording/result_files.h"
#include "app/ui_state/status.h"
#include "app/window/session.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// The plan for StartSweep: the shown system's first state, integrator, law, dt and softening, and its kernel's
/// settings if they are not varied. Throws UsageError; std::runtime_error for a kernel that cannot run here.
SweepPlan sweep_plan(const Backends& backends, const StartSweep& asked, const Status& shown);

/// Runs one sweep at a time. The shown simulation is paused meanwhile.
class SweepControl {
 public:
  /// `backends` must outlive this.
  explicit SweepControl(const Backends& backends) : backends_{backends} {}
  /// Throws as sweep_plan(), and UsageError while a sweep is running or a kernel is being chosen. Then nothing has
  /// changed.
  void start(const StartSweep& asked, Simulation& shown, SweepStatus& status);
  /// Call once per frame. Returns whether the sweep has ended; `status` then has the names of its files.
  bool tick(Simulation& shown, SweepStatus& status);
  /// Ends the sweep and keeps what was measured. Returns whether one was running.
  bool stop(Simulation& shown, SweepStatus& status);

 private:
  void tick_sweep();
  void describe(SweepStatus& status) const;
  void end(Simulation& shown, SweepStatus& status);

  const Backends& backends_;
  ShownPause pause_;
  std::optional<Sweep> sweep_;
  std::vector<double> held_s_;         // by entry, with that of the running one
  std::optional<SweepReport> report_;  // after sweep_, which it refers to
};

}  // namespace orrery
