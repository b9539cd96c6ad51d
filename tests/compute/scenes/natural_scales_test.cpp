#include "compute/scenes/natural_scales.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compute/core/force_law.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

Bodies scaled(Bodies bodies, float length, float speed, float shift) {
  for (Vec4& p : bodies.positions) p = {p.x * length + shift, p.y * length, p.z * length, p.w};
  for (Vec4& v : bodies.velocities) v = {v.x * speed, v.y * speed, v.z * speed, 0};
  return bodies;
}

TEST(NaturalScales, AreNearWhatTheGeneratorsChoose) {
  for (const char* id : {"plummer", "disc"}) {
    SCOPED_TRACE(id);
    const Scene scene = load_scene({.scene = id});
    const NaturalScales scales = natural_scales(scene.bodies);
    EXPECT_GT(scales.softening, scene.softening / 4);
    EXPECT_LT(scales.softening, scene.softening * 4);
    EXPECT_GT(scales.time_step, scene.time_step / 4);
    EXPECT_LT(scales.time_step, scene.time_step * 4);
  }
}

TEST(NaturalScales, FollowTheUnitsOfTheBodies) {
  const Bodies bodies = find_scene("plummer").generate(5000, 2).bodies;
  const NaturalScales one = natural_scales(bodies);
  const NaturalScales larger = natural_scales(scaled(bodies, 100, 0.1f, 0));  // Kepler: time goes as length^(3/2)
  EXPECT_NEAR(larger.softening / one.softening, 100, 1);
  EXPECT_NEAR(larger.time_step / one.time_step, 1000, 10);
  const NaturalScales moved = natural_scales(scaled(bodies, 1, 1, 300));
  EXPECT_NEAR(moved.softening / one.softening, 1, 0.01);
}

TEST(NaturalScales, OfTwoClustersFarApartAreThoseOfOne) {
  const Bodies one = find_scene("plummer").generate(5000, 2).bodies;
  Bodies two = scaled(one, 1, 1, -500);
  const Bodies other = scaled(find_scene("plummer").generate(5001, 3).bodies, 1, 1, 500);
  two.positions.insert(two.positions.end(), other.positions.begin(), other.positions.end());
  two.velocities.insert(two.velocities.end(), other.velocities.begin(), other.velocities.end());
  EXPECT_LT(natural_scales(two).softening / natural_scales(one).softening, 2);
}

TEST(NaturalScales, AreUsableForFewOrCoincidingBodies) {
  const Bodies alone{{{1, 2, 3, 4}}, {{5, 6, 7, 0}}};
  const Bodies coinciding{std::vector<Vec4>(10, {1, 2, 3, 4}), std::vector<Vec4>(10)};
  const Bodies pair = find_scene("two-body").generate(2, 1).bodies;
  for (const Bodies& bodies : {alone, coinciding, pair, find_scene("disc").generate(3, 1).bodies}) {
    const NaturalScales scales = natural_scales(bodies);
    EXPECT_GE(scales.softening, Law::min_softening);
    EXPECT_GT(scales.time_step, 0);
    EXPECT_TRUE(std::isfinite(scales.softening) && std::isfinite(scales.time_step));
  }
}

}  // namespace
}  // namespace orrery
