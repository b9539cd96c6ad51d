#pragma once

#include <cstddef>
#include <optional>

#include "app/features/race/measure_race.h"
#include "app/features/race/race.h"
#include "app/recording/result_files.h"
#include "app/window/session.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// Returns the plan for StartRace: scene, law, digits and constants of the shown system. If no kernels are named, uses
/// the shown kernel with its settings. Throws UsageError, or std::runtime_error for a kernel that cannot run here.
RacePlan race_plan(const Backends& backends, const StartRace& asked, const Status& shown);

/// Runs one race at a time. During a race, the shown simulation is paused.
class RaceControl {
 public:
  /// Makes an object without a race. `backends` must outlive it.
  explicit RaceControl(const Backends& backends) : backends_{backends} {}
  /// Starts a race. Throws UsageError while a race is running or `auto` chooses a kernel, and what race_plan() and Race
  /// throw; then nothing has changed.
  void start(const StartRace& asked, Simulation& shown, RaceStatus& status);
  /// Continues the race. Returns whether it has ended; `status` then has the names of its files. Call once per frame.
  bool tick(Simulation& shown, RaceStatus& status);
  /// Ends the race, and keeps its results so far. Returns whether one was running.
  bool stop(Simulation& shown, RaceStatus& status);

 private:
  void take_results(RaceStatus& status);
  void describe(RaceStatus& status) const;
  void end(Simulation& shown, RaceStatus& status);

  const Backends& backends_;
  ShownPause pause_;
  std::optional<Race> race_;
  Json metadata_;
  std::optional<ResultFiles> files_;  // opened at the first result
  std::size_t taken_ = 0;             // number of results in the files
};

}  // namespace orrery
