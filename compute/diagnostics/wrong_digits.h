// How many digits of results agree: wrong decimals of positions, units in the last place of accelerations.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "compute/core/vec.h"

namespace orrery {

/// The digit test of the UTH homework (literature row 21, document 003, sections 2.3 and 5.8): coordinates against
/// those of a serial run, each by the first decimal digit that its difference reaches.
struct WrongDigits {
  static constexpr int decimals = 7;
  static constexpr int none = decimals + 1;
  /// Coordinates: [0] wrong in the integer part, [k] from the k-th decimal on, [none] in none of them.
  std::array<std::int64_t, decimals + 2> counts{};
  std::int64_t not_finite = 0;  ///< of counts[0]: there is no difference
  double largest = 0;           ///< |difference|; NaN if any coordinate is not finite

  /// The source rejects errors beyond the second decimal place: read here as the integer part and the first two
  /// decimals of every coordinate must be right.
  bool accepted() const { return counts[0] + counts[1] + counts[2] == 0; }
};

/// 0 for |difference| >= 1 and for NaN, else the first k of 1 to 7 with |difference| >= 10^-k, else WrongDigits::none.
int first_wrong_decimal(double difference);

/// x, y and z of every body; both have one entry per body.
WrongDigits wrong_digits(std::span<const Vec4> positions, std::span<const Vec4> reference);

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
