#pragma once

#include <filesystem>

#include "render/image.h"

namespace orrery::render::test {

/// Throws std::runtime_error that names the path.
Image read_png(const std::filesystem::path& path);

/// How far two pictures are apart.
struct Difference {
  double mean = 0;       ///< of the channels' absolute differences, 0 to 255
  double share_off = 0;  ///< of pixels in which a channel differs by more than 24

  /// True up to what a driver's rounding may change; a wrong picture does not stay below.
  bool small() const { return mean <= 1.5 && share_off <= 0.01; }
};
/// Pictures of different sizes differ wholly.
Difference difference(const Image& a, const Image& b);

}  // namespace orrery::render::test
