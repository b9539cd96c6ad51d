// Races: their commands, their size before they begin, and what the window shows of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "app/lab/measurement.h"
#include "app/ui_state/command.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

struct Status;
struct ViewStatus;

/// Runs each combination of a kernel, an integrator and a time step from the first state of the current scene to the
/// same time, one after the other, on a simulation of their own.
struct StartRace {
  double until = 0;                        ///< the time at the end
  std::vector<std::string> kernels{};      ///< ids; empty: the current one, and one that gives jerks
  std::vector<std::string> integrators{};  ///< ids; empty: all that the kernels can run
  std::vector<float> time_steps{};         ///< empty: multiples of the current one

  static constexpr Range<double> ends{0, std::numeric_limits<double>::infinity(), "in units of time", /*open=*/true};
};

struct StopRace {};

inline constexpr MachineUser race_user{"a race", "a race is being measured",        "Stop in the tab Race", "stop-race",
                                       "Race",   [] { return Request{StopRace{}}; }};

/// The commands of races.
inline constexpr std::tuple race_commands{
    command_row<StartRace>(
        "race", "Measures the time to solution: how fast and how exactly each combination reaches the same time.",
        Argument<&StartRace::until>{{.name = "until", .range = StartRace::ends}},
        Argument<&StartRace::kernels>{{.name = "kernels", .optional = true, .form = Form::kernels}},
        Argument<&StartRace::integrators>{{.name = "integrators", .optional = true, .check = check_integrator}},
        Argument<&StartRace::time_steps>{{.name = "dt", .optional = true, .range = SetTimeStep::range}}),
    command_row<StopRace>("stop-race", "Stops the race and keeps what was measured.")};

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

/// Whether a race pairs the two. Kernels that give jerks are for integrators that need them, unless there are no
/// others: `all_give_jerks`.
inline bool race_pairs(const KernelInfo& kernel, const IntegratorInfo& integrator, bool all_give_jerks) {
  if (integrator.needs_jerks) return kernel.gives_jerks;
  return !kernel.gives_jerks || all_give_jerks;
}

/// Factors of the scene's time step that a race takes if it names no time steps.
inline constexpr float usual_factors[] = {4, 2, 1, 0.5f, 0.25f};
/// Number of times that a run measures its energy, at equal distances in time; the last at the end.
inline constexpr int race_samples = 16;

/// The steps that reach `until` if each is of `time_step` or a little shorter; at least 1.
inline double steps_to(double until, float time_step) {
  const double steps = until / nominal_step(time_step);
  return std::max(1.0, std::ceil(steps - rounding_of_steps(steps)));
}

/// The work of one kernel's runs in a race.
struct RaceSize {
  int runs = 0;
  double steps = 0;
  double evaluations = 0;  ///< of the forces of all bodies; with block steps at least
};

/// The work of all pairs of `kernel` with these integrators (ids) at these time steps.
inline RaceSize race_size(const KernelInfo& kernel, bool all_give_jerks, std::span<const std::string> integrators,
                          std::span<const float> time_steps, double until) {
  RaceSize size;
  for (const std::string& id : integrators) {
    const IntegratorInfo& integrator = find_integrator(id);
    if (!race_pairs(kernel, integrator, all_give_jerks)) continue;
    for (const float time_step : time_steps) {
      const double steps = steps_to(until, time_step);
      ++size.runs;
      size.steps += steps;
      size.evaluations += steps * integrator.evaluations_per_step;
    }
  }
  return size;
}

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
