// Commands of races, the forecast of their size, and their state in the window.
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

/// Starts a race of all combinations of a kernel, an integrator and a time step. Each runs alone, in a separate
/// simulation, from the first state of the current scene to the same simulated time.
struct StartRace {
  double until = 0;                        ///< simulated time at the end
  std::vector<std::string> kernels{};      ///< ids; empty: the current kernel, and one that gives jerks
  std::vector<std::string> integrators{};  ///< ids; empty: all that the kernels can run
  std::vector<float> time_steps{};         ///< empty: multiples of the current time step

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

/// One run of a race. Measurement::steps is the number of steps to the end of the race; samples_ms is empty.
struct RaceRun : Measurement {
  std::int64_t evaluations = 0;  ///< force evaluations; with block steps, one per time at which bodies end steps
  double interactions = 0;       ///< total interactions, see StepTiming::interactions_per_evaluation
  double seconds = 0;            ///< time of all steps; NaN: the run did not reach the end
  double energy_error = 0;       ///< largest |E - E0|/|E0| of race_samples states; NaN: not known, counts as too large
  bool on_front = false;         ///< Pareto-optimal: no other run is both faster and more accurate
};

/// Fastest run whose energy error is at most `limit`.
struct RaceWinner {
  double limit;
  std::size_t run;
};

/// State of the latest race in the window.
struct RaceStatus {
  bool active = false;
  double until = 0;                ///< simulated time at the end; 0: no race yet
  std::string present{};           ///< the current run
  double done = 0;                 ///< share of the race that has been done, 0 to 1
  std::optional<double> left_s{};  ///< estimated seconds to the end
  std::vector<RaceRun> rows{};
  std::vector<RaceWinner> best{};  ///< for each limit that a run keeps, from 1e-2 down
  std::vector<std::string> files{};
  std::string error{};  ///< why a file was not written
};

/// Returns whether a race combines the two. Integrators that need jerks run with kernels that give them. Other
/// integrators run with the other kernels, or with all kernels if `all_give_jerks`.
inline bool race_pairs(const KernelInfo& kernel, const IntegratorInfo& integrator, bool all_give_jerks) {
  if (integrator.needs_jerks) return kernel.gives_jerks;
  return !kernel.gives_jerks || all_give_jerks;
}

/// Time steps of a race that names none, as factors of the scene's time step.
inline constexpr float usual_factors[] = {4, 2, 1, 0.5f, 0.25f};
/// Number of energy measurements per run, at equal intervals of simulated time; the last is at the end.
inline constexpr int race_samples = 16;

/// Returns the number of steps to `until` if each is `time_step` or slightly shorter; at least 1.
inline double steps_to(double until, float time_step) {
  const double steps = until / nominal_step(time_step);
  return std::max(1.0, std::ceil(steps - rounding_of_steps(steps)));
}

/// Work of one kernel's runs in a race.
struct RaceSize {
  int runs = 0;
  double steps = 0;
  double evaluations = 0;  ///< force evaluations for all bodies; a lower bound with block steps
};

/// Returns the work of `kernel` with the integrators (ids) that race_pairs() accepts, at each of these time steps.
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

/// The user's entries for the next race.
struct RaceDraft {
  std::string until, time_steps;  ///< as typed; empty: suggested_end(), and multiples of the current time step
  std::vector<std::string> kernels, integrators;  ///< ids; empty: see StartRace
};

/// Forecast of a race.
struct RaceForecast {
  int runs = 0;
  double steps = 0;
  double expected_s = 0;  ///< time of steps and energy measurements, as far as kernel speeds are known; else 0
};

RaceForecast forecast_of(const StartRace& race, const Status& status, const ViewStatus& view);

/// Returns the `until` that the panel suggests: the longest of 1, 0.5, 0.2 and so on with which the race should take at
/// most one minute. It is at least four of the longest time steps. Ignores `race.until`.
double suggested_end(StartRace race, const Status& status, const ViewStatus& view);

/// Returns the forecast as text: "30 runs, 1,860 steps in all, roughly 2 min 5 s here."
std::string words_for(const RaceForecast& forecast);

}  // namespace orrery
