#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "app/ui_state/machine_user.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Measures every combination of the values of the settings, one after the other, on copies of the first state of the
/// current scene.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids, or "all": all that can run here; empty: the current one
  std::vector<std::string> tunables;  ///< names; empty: settings as they are
  std::vector<int> counts;            ///< empty: the current number of bodies
};

struct StopSweep {};

inline constexpr MachineUser sweep_user{
    "a sweep", "a sweep is being measured",        "Stop in the tab Sweep", "stop-sweep",
    "Sweep",   [] { return Request{StopSweep{}}; }};

/// The commands of sweeps.
inline constexpr std::tuple sweep_commands{
    command_row<StartSweep>(
        "sweep", "Measures every combination of the values of the given settings.",
        Argument<&StartSweep::tunables>{{.name = "tunables", .optional = true, .form = Form::settings}},
        Argument<&StartSweep::counts>{{.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&StartSweep::kernels>{{.name = "kernels", .optional = true, .form = Form::kernels}}),
    command_row<StopSweep>("stop-sweep", "Stops the sweep and keeps what was measured.")};

}  // namespace orrery
