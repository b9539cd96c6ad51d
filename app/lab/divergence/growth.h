#pragma once

#include <span>
#include <string>

#include "compute/core/bodies.h"

namespace orrery {

/// The distance between two runs at a time since they had the same state.
struct GrowthPoint {
  double time = 0;      ///< > 0, in units of time
  double distance = 0;  ///< >= 0, in units of length; NaN is left out
};

/// How the distance between two runs grows. Only distances between `floor` and `ceiling` count: below, they are a few
/// units in the last place of the positions, above, they approach the size of the system.
struct Growth {
  enum class Kind {
    identical,    ///< no body is apart in any sample; fit_growth() does not know of them
    too_few,      ///< too few points between floor and ceiling, or they cover less than growth_least
    exponential,  ///< e_folding_time is known
    power,        ///< a power of the time fits better; `exponent` is known
    irregular,    ///< neither fits
  };
  static constexpr int points_least = 8;
  static constexpr double growth_least = 7.389056;  ///< e^2: the factor by which the distance must grow

  Kind kind = Kind::too_few;
  double e_folding_time = 0;      ///< in which the distance grows by the factor e
  double at_zero = 0;             ///< the fitted distance at time 0: it is at_zero * exp(time / e_folding_time)
  double exponent = 0;            ///< p of the power law t^p
  double begin = 0, end = 0;      ///< the range of times of the fitted points, or of those between floor and ceiling
  int points = 0;                 ///< in that range
  double factor = 1;              ///< by which the distance grows from begin to end
  double floor = 0, ceiling = 0;  ///< in units of length
};

/// Fits the points, whose times grow, by least squares of the logarithm of the distance. If the beginning or the end is
/// not exponential, leaves it out. `size` is that of the system, as median_radius() returns it. `digits` are those of
/// the positions that the distances were measured of.
Growth fit_growth(std::span<const GrowthPoint> points, double size, Digits digits = Digits::single);

/// "grows by e every 2.31 units of time (t = 3 to 20, ...)", or why there is no such time.
std::string growth_words(const Growth& growth);

}  // namespace orrery
