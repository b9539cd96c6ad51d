#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "app/ui_state/command.h"

namespace orrery {

/// One line of a script: a request at the start of a frame.
struct ScriptLine {
  /// Leaves room for a run of one more frame.
  static constexpr std::int64_t last_frame = std::numeric_limits<std::int64_t>::max() - 1;

  std::int64_t frame = 0;  ///< from 0 to last_frame
  Request request;
  int line = 0;  ///< its number in the file, from 1
};

/// Sorted by frame; lines of one frame keep their order.
using Script = std::vector<ScriptLine>;

}  // namespace orrery
