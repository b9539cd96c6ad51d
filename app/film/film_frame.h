#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

/// One frame of a film: 4 bytes per pixel, red first, bottom row first as OpenGL reads it. The fourth byte has no
/// meaning.
struct FilmFrame {
  std::int64_t number = 0;  ///< from 0
  std::int64_t times = 1;   ///< that a film file shows it, one after the other; >= 1
  std::vector<std::uint8_t> rgba;
};

}  // namespace orrery
