#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

/// Summary of how far the same bodies are apart in two runs, in units of length. All are 0 if there are no bodies.
struct Distances {
  double rms = 0, median = 0, greatest = 0;
  std::optional<int> non_finite{};  ///< first body that is not finite in a run; the other members are NaN then
};

/// Returns the distance of each body of `a` from the body of `b` with the same index. `a` and `b` have equally many
/// bodies, and the same digits. The low parts of compensated positions count.
std::vector<float> distances_of(std::span<const Vec4> a, std::span<const Vec4> b);
std::vector<float> distances_of(const Bodies& a, const Bodies& b);

/// Summarises the result of distances_of().
Distances summary_of(std::span<const float> distances);

/// Returns the system's size: the median distance of the bodies from their mean position. NaN if a body is not finite.
double median_radius(std::span<const Vec4> positions);

/// Distance between two runs at a time after they had the same state.
struct GrowthPoint {
  double time = 0;      ///< > 0, in units of time, since the same state
  double distance = 0;  ///< >= 0, in units of length; NaN: the point is ignored
};

/// Law by which the distance between two runs grows. Fits use only distances between `floor` and `ceiling`. Smaller
/// ones are mostly rounding of the positions; larger ones approach the size of the system.
struct Growth {
  enum class Kind {
    identical,    ///< all distances are 0 in all samples; set by growth_of(), not by fit_growth()
    too_few,      ///< too few points between floor and ceiling, or they grow by less than growth_least
    exponential,  ///< an exponential fits; e_folding_time is known
    power,        ///< a power law of the time fits better; `exponent` is known
    irregular,    ///< neither law fits
  };
  static constexpr int points_least = 8;
  static constexpr double growth_least = 7.389056;  ///< e^2: factor by which the distance must grow for a fit

  Kind kind = Kind::too_few;
  double e_folding_time = 0;  ///< time in which the distance grows by the factor e
  double at_zero = 0;         ///< fitted distance at time 0: the fit is at_zero * exp(time / e_folding_time)
  double exponent = 0;        ///< p of the power law t^p
  double begin = 0, end = 0;  ///< time range of the fitted points, or if none fit, of those between floor and ceiling
  int points = 0;             ///< number of points in that range
  double factor = 1;          ///< factor by which the distance grows from `begin` to `end`
  double floor = 0, ceiling = 0;  ///< in units of length
};

/// Fits an exponential and a power law to `points`, sorted by time, by least squares of the logarithm of the distance.
/// An exponential may leave out points at the beginning and the end. `size` is the size of the system, see
/// median_radius(); `digits` are the digits of the measured positions.
Growth fit_growth(std::span<const GrowthPoint> points, double size, Digits digits = Digits::single);

/// Returns a sentence with the e-folding time or exponent and the time range, or with the reason why none is known.
std::string growth_words(const Growth& growth);

/// Comparison of two runs of the same bodies at one simulated time.
struct DivergenceSample {
  std::array<std::int64_t, 2> steps{};  ///< steps of A and of B since they had the same state
  double time = 0;                      ///< simulated time since the same state
  Distances distances{};
  std::array<std::optional<double>, 2> energy_error{};  ///< |E - E0| / |E0| of A and of B; none: not measured
};

/// Fits the median distance of these samples, sorted by time. `identical` if all bodies stay together. `size` and
/// `digits` are as for fit_growth().
Growth growth_of(const std::vector<DivergenceSample>& samples, double size, Digits digits = Digits::single);

}  // namespace orrery
