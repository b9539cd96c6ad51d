#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/measurement.h"

namespace orrery {

/// One run of a race. `steps` is the number of steps to the end of the race. `samples_ms` is empty.
struct RaceRun : Measurement {
  std::int64_t evaluations = 0;  ///< of forces: with block steps, one for each moment at which steps of bodies end
  double interactions = 0;       ///< in them, see StepTiming::interactions_per_evaluation
  double seconds = 0;            ///< of the steps; NaN: it did not reach the end
  double energy_error = 0;  ///< the largest |E - E0|/|E0| of race_samples states; NaN: not known, which keeps no limit
  bool on_front = false;    ///< no other run is both faster and more exact
};

/// The fastest run, as its index, that keeps the energy to `limit`.
struct RaceWinner {
  double limit;
  std::size_t run;
};

/// The latest race as the window shows it.
struct RaceStatus {
  bool active = false;
  double until = 0;                ///< the time at the end; 0: there was no race yet
  std::string present{};           ///< the run that is being measured
  double done = 0;                 ///< the share of the race, 0 to 1
  std::optional<double> left_s{};  ///< until the end, estimated
  std::vector<RaceRun> rows{};
  std::vector<RaceWinner> best{};  ///< for each limit of the energy that a run keeps, from the loosest on
  std::vector<std::string> files{};
  std::string error{};  ///< why a file was not written
};

}  // namespace orrery
