#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "app/ui_state/command.h"

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

}  // namespace orrery
