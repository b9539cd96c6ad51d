#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/command.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// One line of a script: what to ask for at the start of which frame.
struct ScriptLine {
  /// So that a run of as many frames, and one more, can be asked for.
  static constexpr std::int64_t last_frame = std::numeric_limits<std::int64_t>::max() - 1;

  std::int64_t frame = 0;  ///< from 0 to last_frame
  Request request;
  int line = 0;  ///< where it stands in the file, from 1
};

/// Sorted by frame; lines of one frame keep their order.
using Script = std::vector<ScriptLine>;

/// Reads `FRAME COMMAND ARGUMENTS` lines of at most 64 KB, at most a million of them; `#` at a line's start or after a
/// blank begins a comment. `set` is checked against the kernel that the script has selected by that frame, `kernel` at
/// first (null: auto). Throws UsageError that starts with "NAME:LINE: " and names the valid choices.
Script parse_script(std::string_view text, const std::string& name, const KernelInfo* kernel);

/// The same from a file. Throws std::runtime_error as read_text() does.
Script read_script(const std::string& file, const KernelInfo* kernel);

}  // namespace orrery
