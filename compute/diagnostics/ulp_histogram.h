#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "compute/core/vec.h"

namespace orrery {

/// Steps from one finite float to the other along the line of all floats, on which -0 and 0 are one point.
std::int64_t ulp_distance(float a, float b);

/// How far the components of accelerations are from those of a reference, in units in the last place.
struct UlpHistogram {
  static constexpr int classes = 34;  ///< distances 0, 1, 2, 3 to 4, 5 to 8, ...: the last reaches every finite float
  std::array<std::int64_t, classes> counts{};  ///< components
  std::int64_t not_finite = 0;                 ///< components in no class: either side is NaN, infinite or beyond float

  static int class_of(std::int64_t distance);
  /// The distances that belong to a class.
  static std::int64_t least(int index);
  static std::int64_t most(int index);
};

/// `accelerations` has one entry per body (ax, ay, az, unused), `reference` one for each of `targets`; it is rounded to
/// float first. A component that is small because its terms cancel is far away in these units and harmless.
UlpHistogram ulp_histogram(std::span<const Vec4> accelerations, std::span<const int> targets,
                           std::span<const Vec3d> reference);

}  // namespace orrery
