#pragma once

#include <string>
#include <tuple>

#include "compute/sim/command_row.h"

namespace orrery {

/// Saves a record of the run, from which it can be computed again; see Replay.
struct SaveReplay {
  std::string file;
};

/// Command that saves a replay.
inline constexpr std::tuple runs_commands{command_row<SaveReplay>(
    "save-replay", "Saves how the run went, for 'orrery replay', which computes it again.",
    Argument<&SaveReplay::file>{{.name = "file", .optional = true, .form = Form::written_file}})};

}  // namespace orrery
