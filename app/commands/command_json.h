#pragma once

#include <string_view>

#include "app/text/csv.h"
#include "app/ui_state/command.h"

namespace orrery {

/// {"command": "kernel", "id": "cuda-tiled", "settings": {"block": "256"}}: the name, and the arguments by their names
/// in the table of commands. Optional arguments with their initial values are left out.
Json command_json(const Request& request);

/// Reads back what command_json() made. Throws UsageError, one line, for an unknown command and for an argument that is
/// unknown, missing, of another type or out of range. Ids of kernels and their settings are not checked.
Request command_of(const Json& json);
/// The same from text. Throws UsageError also if it is not JSON.
Request command_of_json_text(std::string_view text);

}  // namespace orrery
