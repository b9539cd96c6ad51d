#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/view/command.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// One line of a script: what to ask for at the start of which frame.
struct ScriptLine {
  std::int64_t frame = 0;  ///< >= 0; frames count from 0
  Request request;
  int line = 0;  ///< where it stands in the file, from 1
};

/// Sorted by frame; lines of one frame keep their order.
using Script = std::vector<ScriptLine>;

/// Reads `FRAME COMMAND ARGUMENTS` lines; `#` at a line's start or after a blank begins a comment. `set` is checked
/// against the kernel that the script has selected by that frame, `kernel` at first (null: auto). Throws UsageError
/// that starts with "NAME:LINE: " and names the valid choices.
Script parse_script(std::istream& text, const std::string& name, const KernelInfo* kernel);

/// The same from a file. Throws std::runtime_error if it cannot be read.
Script read_script(const std::string& file, const KernelInfo* kernel);

}  // namespace orrery
