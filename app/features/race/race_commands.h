#pragma once

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "app/ui_state/machine_user.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

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

}  // namespace orrery
