#pragma once

#include <cstdint>
#include <string>

#include "compute/core/text.h"

namespace orrery {

/// The film that `orrery render` makes.
struct FilmOptions {
  std::string out;        ///< the name of an MP4 file, or of a folder for numbered PNG frames
  bool folder = false;    ///< `out` is a folder
  double fps = 30;        ///< frames per second of the film
  bool progress = false;  ///< show progress even if stderr is no terminal

  static constexpr Range<std::int64_t> lengths{1, 10'000'000,
                                               "frames"};  ///< at most: four days at 30 frames per second
  static constexpr Range<double> rates{0.1, 1000, "frames per second"};
};

}  // namespace orrery
