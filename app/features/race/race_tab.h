#pragma once

#include <string>
#include <vector>

#include "app/features/race/race_commands.h"
#include "app/ui_state/status.h"

namespace orrery {

/// The race that the user is choosing.
struct RaceDraft {
  std::string until, time_steps;  ///< as typed; no time: the suggested one; no time steps: multiples of the current one
  std::vector<std::string> kernels, integrators;  ///< ids; none: see StartRace
};

/// Forecast of a race: its size and its time.
struct RaceForecast {
  int runs = 0;
  double steps = 0;
  double expected_s = 0;  ///< of the steps and the sums of energy, as far as the speed of the kernels is known; else 0
};

RaceForecast forecast_of(const StartRace& race, const Status& status, const ViewStatus& view);

/// The time at the end that the panel suggests, in units of time: the longest of 1, 0.5, 0.2 and so on with which the
/// race is expected to take a minute at most, but four of the longest time steps at least. `race.until` is ignored.
double suggested_end(StartRace race, const Status& status, const ViewStatus& view);

/// "30 runs, 1,860 steps in all, roughly 2 min 5 s here."
std::string words_for(const RaceForecast& forecast);

}  // namespace orrery
