#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

/// How far the same bodies are apart in two runs, in units of length. All are 0 if there are no bodies.
struct Distances {
  double rms = 0, median = 0, greatest = 0;
  std::optional<int> non_finite{};  ///< the first body that is not finite in either run; then the rest is NaN
};

/// The distance of each body of `a` from the body with the same index of `b`. Both have the same number of bodies, and
/// as Bodies the same digits: their low words count.
std::vector<float> distances_of(std::span<const Vec4> a, std::span<const Vec4> b);
std::vector<float> distances_of(const Bodies& a, const Bodies& b);

/// Sums up distances_of().
Distances summary_of(std::span<const float> distances);

/// The median distance of the bodies from their mean position: the size of the system. NaN if a body is not finite.
double median_radius(std::span<const Vec4> positions);

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

/// Two runs of the same bodies at one time.
struct DivergenceSample {
  std::array<std::int64_t, 2> steps{};  ///< of A and of B, since they had the same state
  double time = 0;                      ///< since then
  Distances distances{};
  std::array<std::optional<double>, 2> energy_error{};  ///< |E - E0| / |E0| of A and of B; none: not measured
};

/// The growth of the median distance in these samples, whose times grow; `identical` if all bodies stay together.
/// `size` and `digits` as for fit_growth().
Growth growth_of(const std::vector<DivergenceSample>& samples, double size, Digits digits = Digits::single);

}  // namespace orrery
