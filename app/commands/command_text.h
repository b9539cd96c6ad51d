#pragma once

#include <string>
#include <string_view>

#include "app/ui_state/command.h"

namespace orrery {

/// Reads a command as a script has it: its name, then its arguments. Those that must be given stand in order; others
/// are `name=value`, but for the first. Ids of kernels and their settings are not checked. Throws UsageError that names
/// the valid choices.
Request parse_command(std::string_view text);

/// What parse_command() reads back as an equal command.
std::string command_text(const Request& request);

/// The names of all commands and their short forms, in the order of the tables.
std::string command_names();

}  // namespace orrery
