// The scene `antennae`: its orbit, and the tails it draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/scenes/galaxy.h"
#include "tests/compute/scenes/evolved.h"

namespace orrery {
namespace {

struct Half {
  double mass = 0;
  Vec3d centre, velocity, spin;  // spin: about its own centre
};

Half half_of(const Bodies& bodies, std::size_t first, std::size_t end) {
  Half half;
  for (std::size_t i = first; i < end; ++i) {
    const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
    const double m = p.w;
    half.mass += m;
    half.centre = {half.centre.x + m * p.x, half.centre.y + m * p.y, half.centre.z + m * p.z};
    half.velocity = {half.velocity.x + m * v.x, half.velocity.y + m * v.y, half.velocity.z + m * v.z};
  }
  const double m = half.mass;
  half.centre = {half.centre.x / m, half.centre.y / m, half.centre.z / m};
  half.velocity = {half.velocity.x / m, half.velocity.y / m, half.velocity.z / m};
  for (std::size_t i = first; i < end; ++i) {
    const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
    const double x = p.x - half.centre.x, y = p.y - half.centre.y, z = p.z - half.centre.z;
    const double vx = v.x - half.velocity.x, vy = v.y - half.velocity.y, vz = v.z - half.velocity.z;
    half.spin.x += p.w * (y * vz - z * vy);
    half.spin.y += p.w * (z * vx - x * vz);
    half.spin.z += p.w * (x * vy - y * vx);
  }
  return half;
}

TEST(Antennae, AreTwoEqualGalaxiesOnAParabolaThatTheyTurnWith) {
  constexpr std::size_t count = 40000;
  const Bodies bodies = find_scene("antennae").generate(count, 1).bodies;
  const Half a = half_of(bodies, 0, count / 2), b = half_of(bodies, count / 2, count);
  EXPECT_NEAR(a.mass, 0.5, 1e-5);
  EXPECT_NEAR(b.mass, 0.5, 1e-5);
  const double x = b.centre.x - a.centre.x, y = b.centre.y - a.centre.y;
  const double vx = b.velocity.x - a.velocity.x, vy = b.velocity.y - a.velocity.y;
  const double pull = 1 / std::hypot(x, y);
  EXPECT_NEAR((vx * vx + vy * vy) / 2 / pull, 1, 0.05) << "no energy to spare, none missing";
  EXPECT_LT(x * vx + y * vy, 0) << "they part";
  EXPECT_GT(x * vy - y * vx, 0);
  for (const Half& half : {a, b}) {
    const double spin = std::hypot(half.spin.x, half.spin.y, half.spin.z);
    EXPECT_GT(half.spin.z, 0.7 * spin) << "they turn against the orbit";
  }
}

/// The share of the discs' bodies that are farther than `limit` from the centre of mass of all.
double share_beyond(const Bodies& bodies, double limit) {
  const int count = bodies.count(), half = (count + 1) / 2;
  int beyond = 0, all = 0;
  for (int i = 0; i < count; ++i) {
    const bool first = i < half;
    if ((first ? i : i - half) >= disc_count(warm_disc_design, first ? half : count - half)) continue;
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    ++all;
    if (std::hypot(p.x, p.y, p.z) > limit) ++beyond;
  }
  return static_cast<double>(beyond) / all;
}

TEST(Antennae, HaveTailsByTheTime10) {
  const Scene scene = find_scene("antennae").generate(6000, 1);
  constexpr double half_mass_radius = 1.68 * 0.25;  // of an exponential disc
  EXPECT_LT(share_beyond(scene.bodies, 8 * half_mass_radius), 0.005);
  test::Evolution evolution{scene};
  evolution.set_time_step(0.01f);
  double share = 0;
  for (int time = 2; time <= 10; time += 2) {
    share = share_beyond(evolution.after(2), 8 * half_mass_radius);
    RecordProperty("share_at_" + std::to_string(time), std::to_string(share));
  }
  EXPECT_GT(share, 0.1);
}

}  // namespace
}  // namespace orrery
