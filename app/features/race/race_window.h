#pragma once

#include <cstddef>
#include <optional>

#include "app/features/race/measure_race.h"
#include "app/features/race/race.h"
#include "app/recording/result_files.h"
#include "app/window/session.h"
#include "compute/sim/simulation.h"

namespace orrery {

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

}  // namespace orrery
