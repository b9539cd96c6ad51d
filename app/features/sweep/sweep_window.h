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

/// Returns the plan for StartSweep: the shown system's first state, integrator, law, dt and softening, and the shown
/// kernel's settings that are not varied. Throws UsageError, or std::runtime_error for a kernel that cannot run here.
SweepPlan sweep_plan(const Backends& backends, const StartSweep& asked, const Status& shown);

/// Runs one sweep at a time. During a sweep, the shown simulation is paused.
class SweepControl {
 public:
  /// Makes an object without a sweep. `backends` must outlive it.
  explicit SweepControl(const Backends& backends) : backends_{backends} {}
  /// Starts a sweep. Throws UsageError while a sweep is running or `auto` chooses a kernel, and what sweep_plan()
  /// throws; then nothing has changed.
  void start(const StartSweep& asked, Simulation& shown, SweepStatus& status);
  /// Continues the sweep. Returns whether it has ended; `status` then has the names of its files. Call once per frame.
  bool tick(Simulation& shown, SweepStatus& status);
  /// Ends the sweep, and keeps its results so far. Returns whether one was running.
  bool stop(Simulation& shown, SweepStatus& status);

 private:
  void tick_sweep();
  void describe(SweepStatus& status) const;
  void end(Simulation& shown, SweepStatus& status);

  const Backends& backends_;
  ShownPause pause_;
  std::optional<Sweep> sweep_;
  std::vector<double> held_s_;  // longest time in seconds that tick() took, by entry; the last is the running one
  std::optional<SweepReport> report_;  // declared after sweep_, to which it refers
};

}  // namespace orrery
