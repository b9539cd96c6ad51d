#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/race/race.h"
#include "app/lab/sweep/sweep.h"
#include "app/recording/result_files.h"
#include "app/recording/sweep_report.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "app/viewer/second_lane.h"
#include "app/viewer/session.h"
#include "compute/sim/simulation.h"

namespace orrery {
/// Pauses the shown simulation while something else is measured.
class ShownPause {
 public:
  void begin(Simulation& shown);
  /// The simulation goes on if it ran before.
  void end(Simulation& shown);

 private:
  bool resume_ = false;
};

/// The law, its constants, the time step and the digits of the shown simulation, for another one.
std::vector<Command> shown_physics(const Status& shown);

/// The plan for StartSweep: the shown system's first state, integrator, law, dt and softening, and its kernel's
/// settings if they are not varied. Throws UsageError; std::runtime_error for a kernel that cannot run here.
SweepPlan sweep_plan(const Backends& backends, const StartSweep& asked, const Status& shown);

/// Whether a command would run steps of the shown system or measure kernels: a sweep, a race or a lesson would measure
/// that work, too.
bool needs_machine(const Command& command, const Status& shown);

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

/// The plan for StartRace: the shown system's scene, law, digits and constants, and its kernel with its settings where
/// no kernels are named. Throws UsageError; std::runtime_error for a kernel that cannot run here.
RacePlan race_plan(const Backends& backends, const StartRace& asked, const Status& shown);

/// Runs one race at a time. The shown simulation is paused meanwhile.
class RaceControl {
 public:
  /// `backends` must outlive this.
  explicit RaceControl(const Backends& backends) : backends_{backends} {}
  /// Throws as race_plan() and Race, and UsageError while a race is running or a kernel is being chosen. Then nothing
  /// has changed.
  void start(const StartRace& asked, Simulation& shown, RaceStatus& status);
  /// Call once per frame. Returns whether the race has ended; `status` then has the names of its files.
  bool tick(Simulation& shown, RaceStatus& status);
  /// Ends the race and keeps what was measured. Returns whether one was running.
  bool stop(Simulation& shown, RaceStatus& status);

 private:
  void take_results(RaceStatus& status);
  void describe(RaceStatus& status) const;
  void end(Simulation& shown, RaceStatus& status);

  const Backends& backends_;
  ShownPause pause_;
  std::optional<Race> race_;
  Json metadata_;
  std::optional<ResultFiles> files_;  // from the first result on
  std::size_t taken_ = 0;             // results that are in the files
};

/// Sweeps and races beside the picture: what the user asks of them, and their results.
class MeasureFeature {
 public:
  /// Both must outlive this.
  MeasureFeature(Session& session, CompareFeature& compare)
      : session_{session}, compare_{compare}, sweep_{session.backends}, race_{session.backends} {}

  void carry_out(const StartSweep& c);
  void carry_out(const StopSweep&);
  void carry_out(const StartRace& c);
  void carry_out(const StopRace&);
  /// Call once per frame.
  void follow();

 private:
  void take_swept();

  Session& session_;
  CompareFeature& compare_;
  SweepControl sweep_;
  RaceControl race_;
  std::size_t swept_taken_ = 0;  // rows of the sweep that the results have
};

}  // namespace orrery
