// Commands of sweeps, and the user's entries for the next sweep.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "app/ui_state/command.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Starts a sweep of all combinations of the settings' values. Each is measured alone, on a copy of the first state of
/// the current scene.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids, or "all" for all that can run here; empty: the current kernel
  std::vector<std::string> tunables;  ///< names of settings to vary; empty: none, all keep their values
  std::vector<int> counts;            ///< numbers of bodies; empty: the current number
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

/// The user's entries for the next sweep.
struct SweepDraft {
  std::vector<std::string> tunables;  ///< names of settings to vary in all combinations; ignores those of other kernels
  bool every_kernel = false;          ///< varies the kernels, with their initial settings, instead of settings
  std::string counts;                 ///< numbers of bodies as typed; empty: the current number
};

}  // namespace orrery
