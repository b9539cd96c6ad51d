// The scene `collision` with many bodies: discs that have arms before they meet.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compute/scenes/galaxy.h"
#include "tests/compute/scenes/arms.h"
#include "tests/compute/scenes/evolved.h"

namespace orrery {
namespace {

constexpr double heavier_length = 0.32;  // scale length of its disc

/// The disc of the heavier galaxy, seen along its axis.
std::vector<test::PlanePoint> heavier_disc(const Bodies& bodies, const GalaxyDesign& design) {
  constexpr double cos_x = 0.96, sin_x = 0.28, cos_z = 0.8, sin_z = 0.6;  // its tilt
  const int in_disc = disc_count(design, 3 * bodies.count() / 4);
  std::vector<test::PlanePoint> disc;
  for (int i = 0; i < in_disc; ++i) {
    const Vec4& p = bodies.positions[static_cast<std::size_t>(i)];
    const double x = p.x * cos_z + p.y * sin_z, along_y = p.y * cos_z - p.x * sin_z;
    disc.push_back({x / heavier_length, (along_y * cos_x + p.z * sin_x) / heavier_length});
  }
  return disc;
}

TEST(Collision, OfManyBodiesGrowsArmsBeforeTheDiscsMeet) {
  const Scene scene = find_scene("collision").generate(20000, 1);
  const double at_start = test::arm_amplitude(heavier_disc(scene.bodies, cold_disc_design));
  test::Evolution evolution{scene};
  evolution.set_time_step(2 * scene.time_step);
  const double later = test::arm_amplitude(heavier_disc(evolution.after(1.5), cold_disc_design));
  RecordProperty("at_start", std::to_string(at_start));
  RecordProperty("later", std::to_string(later));
  EXPECT_GT(at_start, 0.1);
  EXPECT_GT(later, 0.3);
}

TEST(Collision, OfAMillionBodiesStartsWithWaves) {
  const Scene scene = find_scene("collision").generate(1 << 20, 1);
  EXPECT_GT(test::arm_amplitude(heavier_disc(scene.bodies, cold_disc_design)), 0.1);
}

}  // namespace
}  // namespace orrery
