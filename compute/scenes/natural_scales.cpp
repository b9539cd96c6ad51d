#include "compute/scenes/natural_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/core/force_law.h"
#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

constexpr double ball_share = 0.1;        // of the bodies
constexpr std::size_t most_used = 65536;  // bodies in the sample; more would change little
constexpr std::size_t most_centres = 64;

double distance_sq(const Vec4& a, const Vec4& b) {
  const double x = static_cast<double>(a.x) - b.x, y = static_cast<double>(a.y) - b.y,
               z = static_cast<double>(a.z) - b.z;
  return x * x + y * y + z * z;
}

/// At most `most` of the bodies, evenly spaced in their order.
std::vector<Vec4> thinned(const std::vector<Vec4>& bodies, std::size_t most) {
  const std::size_t size = std::min(bodies.size(), most);
  std::vector<Vec4> picked;
  picked.reserve(size);
  for (std::size_t i = 0; i < size; ++i) picked.push_back(bodies[i * bodies.size() / size]);
  return picked;
}

struct Ball {
  double radius;
  double bodies;
  double mass;
};

/// The smallest of the balls around some of the bodies that each hold a tenth of all bodies.
Ball densest_ball(const std::vector<Vec4>& bodies) {
  const std::vector<Vec4> used = thinned(bodies, most_used);
  const auto wanted = static_cast<std::size_t>(ball_share * static_cast<double>(used.size()));
  const std::size_t inside = std::max(wanted, std::min<std::size_t>(used.size(), 2));

  double radius_sq = std::numeric_limits<double>::max();
  Vec4 centre;
  std::vector<double> distances_sq(used.size());
  for (const Vec4& candidate : thinned(used, most_centres)) {
    std::ranges::transform(used, distances_sq.begin(), [&](const Vec4& body) { return distance_sq(body, candidate); });
    const auto last = distances_sq.begin() + static_cast<std::ptrdiff_t>(inside) - 1;
    std::ranges::nth_element(distances_sq, last);
    if (*last < radius_sq) {
      radius_sq = *last;
      centre = candidate;
    }
  }
  double mass = 0;
  for (const Vec4& body : used) {
    if (distance_sq(body, centre) <= radius_sq) mass += body.w;
  }
  const double each_stands_for = static_cast<double>(bodies.size()) / static_cast<double>(used.size());
  return {std::sqrt(radius_sq), static_cast<double>(inside) * each_stands_for, mass * each_stands_for};
}

/// The rms speed, weighted by mass, in the frame of the centre of mass.
double rms_speed(const Bodies& bodies) {
  double mass = 0, square = 0;
  Vec3d momentum;
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double m = bodies.positions[i].w;
    const Vec4& v = bodies.velocities[i];
    const double vx = v.x, vy = v.y, vz = v.z;
    mass += m;
    square += m * (vx * vx + vy * vy + vz * vz);
    momentum = {momentum.x + m * vx, momentum.y + m * vy, momentum.z + m * vz};
  }
  const double common = (momentum.x * momentum.x + momentum.y * momentum.y + momentum.z * momentum.z) / (mass * mass);
  return std::sqrt(std::max(square / mass - common, 0.0));
}

}  // namespace

NaturalScales natural_scales(const Bodies& bodies) {
  const auto [radius, inside, mass] = densest_ball(bodies.positions);
  const double volume = 4 * portable::pi / 3 * radius * radius * radius;
  const double softening = std::cbrt(volume / inside) / 2;
  const double speed = std::max(rms_speed(bodies), std::sqrt(mass / radius));
  const double time_step = std::min(0.06 * std::sqrt(radius * radius * radius / mass), 0.4 * softening / speed);
  const NaturalScales scales{static_cast<float>(time_step), static_cast<float>(softening)};
  const bool usable =
      std::isnormal(scales.time_step) && std::isfinite(scales.softening) && scales.softening >= Law::min_softening;
  return usable ? scales : NaturalScales{.time_step = 0.005f, .softening = 0.02f};
}

}  // namespace orrery
