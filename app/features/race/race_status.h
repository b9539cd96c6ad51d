#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/trial.h"

namespace orrery {

/// One run of a race.
struct RaceRow : Trial {
  std::int64_t steps = 0;
  double seconds = 0;       ///< of its steps; NaN: it did not reach the end
  double energy_error = 0;  ///< see RaceResult; NaN: not known
  bool on_front = false;    ///< no other run is both faster and more exact
  std::string problem{};    ///< why it did not reach the end; else empty
};

/// The fastest run that keeps the energy to `limit`.
struct RaceBest {
  double limit;
  std::size_t row;
};

/// The latest race as the window shows it.
struct RaceStatus {
  bool active = false;
  double until = 0;                ///< the time at the end; 0: there was no race yet
  std::string present{};           ///< the run that is being measured
  double done = 0;                 ///< the share of the race, 0 to 1
  std::optional<double> left_s{};  ///< until the end, estimated
  std::vector<RaceRow> rows{};
  std::vector<RaceBest> best{};  ///< for each limit of the energy that a run keeps, from the loosest on
  std::vector<std::string> files{};
  std::string error{};  ///< why a file was not written
};

}  // namespace orrery
