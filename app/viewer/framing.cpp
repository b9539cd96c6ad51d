#include "app/viewer/framing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "app/viewer/auto_range.h"

namespace orrery {
namespace {

constexpr std::size_t few = 64;  // up to this many bodies, none is an outlier
constexpr float margin = 1.15f;  // framed radius over that of the bodies

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

/// Holds the share `inside` of the bodies. Its centre leaves the share `outside` out at each end of each axis.
Ball ball_of(const Bodies& bodies, double outside, double inside) {
  const auto middle = [&](float Vec4::*axis) {
    auto values = measured(bodies.positions, [&](const Vec4& p) { return p.*axis; });
    return 0.5f * (percentile(values, outside) + percentile(values, 1 - outside));
  };
  Ball ball{.centre = {middle(&Vec4::x), middle(&Vec4::y), middle(&Vec4::z)}};
  auto distances = measured(bodies.positions, [&](const Vec4& p) {
    return glm::distance(ball.centre, glm::vec3{p.x, p.y, p.z});
  });
  ball.radius = margin * percentile(distances, inside);
  if (!(ball.radius > 0)) ball.radius = 1.0f;
  return ball;
}

}  // namespace

Framing framing_of(const Bodies& bodies) {
  Framing framing;
  framing.all = ball_of(bodies, 0, 1);
  const Ball bulk = bodies.positions.size() <= few ? framing.all : ball_of(bodies, 0.02, 0.95);
  framing.centre = bulk.centre;
  framing.radius = bulk.radius;
  framing.ranges.speed = range_of(measured(bodies.velocities, [](const Vec4& v) { return std::hypot(v.x, v.y, v.z); }));
  const std::vector<float> masses = measured(bodies.positions, [](const Vec4& p) { return p.w; });
  const double mass = std::accumulate(masses.begin(), masses.end(), 0.0);
  framing.ranges.mass = range_of(masses);
  const auto [least, most] = std::ranges::minmax_element(masses);
  if (!masses.empty() && *least == *most) framing.only_mass = *least;
  const double mean = std::max(mass, 1e-30) / (std::numbers::pi * framing.radius * framing.radius);
  framing.ranges.mass_per_area = {static_cast<float>(1e-2 * mean), static_cast<float>(1e2 * mean)};
  return framing;
}

}  // namespace orrery
