#include "app/viewer/framing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace orrery {
namespace {

constexpr std::size_t few = 64;  // up to this many bodies, none is an outlier
constexpr float margin = 1.15f;  // framed radius over that of the bodies

/// The quantile `q` (0 to 1); 0 if there are no values. A rank between two values is rounded outward. Reorders
/// `values`.
float percentile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(q < 0.5 ? std::floor(rank) : std::ceil(rank));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Without bodies that are not finite.
template <class Measure>
std::vector<float> measured(const std::vector<Vec4>& from, Measure measure) {
  std::vector<float> values;
  values.reserve(from.size());
  for (const Vec4& one : from) {
    if (const float value = measure(one); std::isfinite(value)) values.push_back(value);
  }
  return values;
}

/// Never empty, so that equal bodies have a colour, too.
render::ValueRange range_of(std::vector<float> values, double low, double high) {
  render::ValueRange range{percentile(values, low), percentile(values, high)};
  if (!(range.high > range.low)) range.low = range.high * 0.5f;
  if (!(range.high > range.low)) range.high = range.low + 1.0f;
  return range;
}

}  // namespace

Framing framing_of(const Bodies& bodies) {
  Framing framing;
  const auto middle = [&](float Vec4::*axis) {
    auto values = measured(bodies.positions, [&](const Vec4& p) { return p.*axis; });
    const double outside = values.size() <= few ? 0 : 0.02;
    return 0.5f * (percentile(values, outside) + percentile(values, 1 - outside));
  };
  framing.centre = {middle(&Vec4::x), middle(&Vec4::y), middle(&Vec4::z)};
  auto distances = measured(bodies.positions, [&](const Vec4& p) {
    return glm::distance(framing.centre, glm::vec3{p.x, p.y, p.z});
  });
  framing.radius = margin * percentile(distances, distances.size() <= few ? 1 : 0.95);
  if (!(framing.radius > 0)) framing.radius = 1.0f;
  framing.ranges.speed =
      range_of(measured(bodies.velocities, [](const Vec4& v) { return std::hypot(v.x, v.y, v.z); }), 0.02, 0.98);
  const std::vector<float> masses = measured(bodies.positions, [](const Vec4& p) { return p.w; });
  const double mass = std::accumulate(masses.begin(), masses.end(), 0.0);
  framing.ranges.mass = range_of(masses, 0.02, 0.98);
  const double mean = std::max(mass, 1e-30) / (std::numbers::pi * framing.radius * framing.radius);
  framing.ranges.mass_per_area = {static_cast<float>(1e-2 * mean), static_cast<float>(1e2 * mean)};
  return framing;
}

}  // namespace orrery
