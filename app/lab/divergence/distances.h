#pragma once

#include <optional>
#include <span>
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

}  // namespace orrery
