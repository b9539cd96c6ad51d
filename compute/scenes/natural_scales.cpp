#include "compute/scenes/natural_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/core/force_law.h"
#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

constexpr double sphere_share = 0.1;  // of the bodies, in the ball whose density counts
constexpr double shrinking_factor = 0.9;

double distance_sq(const Vec4& body, const Vec3d& centre) {
  const double x = body.x - centre.x, y = body.y - centre.y, z = body.z - centre.z;
  return x * x + y * y + z * z;
}

/// The mean position of the bodies, each counted once whatever its mass: a few heavy ones far out do not shift it.
Vec3d mean_position(const std::vector<Vec4>& bodies) {
  Vec3d sum;
  for (const Vec4& body : bodies) sum = {sum.x + body.x, sum.y + body.y, sum.z + body.z};
  const auto count = static_cast<double>(bodies.size());
  return {sum.x / count, sum.y / count, sum.z / count};
}

/// Moves a sphere to the mean position of what it holds and shrinks it, until it holds few bodies.
Vec3d densest_point(std::vector<Vec4> inside, std::size_t enough) {
  Vec3d centre = mean_position(inside);
  double radius_sq = 0;
  for (const Vec4& body : inside) radius_sq = std::max(radius_sq, distance_sq(body, centre));
  while (inside.size() > enough && radius_sq > std::numeric_limits<double>::min()) {
    radius_sq *= shrinking_factor * shrinking_factor;
    const auto kept = std::partition(inside.begin(), inside.end(),
                                     [&](const Vec4& body) { return distance_sq(body, centre) <= radius_sq; });
    if (kept == inside.begin()) break;
    inside.erase(kept, inside.end());
    centre = mean_position(inside);
  }
  return centre;
}

/// In the frame of the centre of mass.
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
  const std::size_t count = bodies.positions.size();
  const std::size_t in_ball = std::max<std::size_t>(static_cast<std::size_t>(sphere_share * static_cast<double>(count)),
                                                    std::min<std::size_t>(count, 2));
  const Vec3d centre = densest_point(bodies.positions, in_ball);
  std::vector<Vec4> ball = bodies.positions;
  const auto last = ball.begin() + static_cast<std::ptrdiff_t>(in_ball) - 1;
  std::ranges::nth_element(ball, last, {}, [&](const Vec4& body) { return distance_sq(body, centre); });
  const double radius = std::sqrt(distance_sq(*last, centre));
  double mass = 0;
  for (auto body = ball.begin(); body <= last; ++body) mass += body->w;

  const double volume = 4 * portable::pi / 3 * radius * radius * radius;
  const double softening = std::cbrt(volume / static_cast<double>(in_ball)) / 2;
  const double speed = std::max(rms_speed(bodies), std::sqrt(mass / radius));
  const double time_step = std::min(0.06 * std::sqrt(radius * radius * radius / mass), 0.4 * softening / speed);
  const NaturalScales scales{static_cast<float>(time_step), static_cast<float>(softening)};
  const bool usable =
      std::isnormal(scales.time_step) && std::isfinite(scales.softening) && scales.softening >= Law::min_softening;
  return usable ? scales : NaturalScales{.time_step = 0.005f, .softening = 0.02f};
}

}  // namespace orrery
