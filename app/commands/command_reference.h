#pragma once

#include <string>

namespace orrery {

/// All commands for a terminal: usage, sentence, and what their arguments may be.
std::string command_reference();
/// The same as a table in Markdown, which docs/usage/scripts.md holds.
std::string command_reference_markdown();

}  // namespace orrery
