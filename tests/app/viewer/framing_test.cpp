#include "app/viewer/framing.h"

#include <gtest/gtest.h>

#include <limits>

#include "compute/scenes/scene.h"

namespace orrery {
namespace {

/// A line of bodies at x = 0 to 99, each with its place as its speed and its mass.
Bodies line() {
  Bodies bodies;
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(i);
    bodies.positions.push_back({x, 5, -3, x + 1});
    bodies.velocities.push_back({0, x, 0, 0});
  }
  return bodies;
}

TEST(Framing, HoldsMostBodies) {
  const Framing framing = framing_of(line());
  EXPECT_NEAR(framing.centre.x, 49.5f, 1.0f);
  EXPECT_EQ(framing.centre.y, 5);
  EXPECT_EQ(framing.centre.z, -3);
  EXPECT_GT(framing.radius, 45);
  EXPECT_LT(framing.radius, 50);
  EXPECT_NEAR(framing.ranges.speed.low, 2, 1);
  EXPECT_NEAR(framing.ranges.speed.high, 97, 1);
}

TEST(Framing, OneBodyFarOutChangesLittle) {
  Bodies bodies = line();
  bodies.positions.push_back({1e9f, 1e9f, 1e9f, 1});
  bodies.velocities.push_back({1e9f, 0, 0, 0});
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.radius, 60);
  EXPECT_LT(framing.ranges.speed.high, 110);
}

TEST(Framing, LeavesOutWhatIsNotFinite) {
  Bodies bodies = line();
  for (std::size_t i = 0; i < 60; ++i) {
    bodies.positions[i].x = std::numeric_limits<float>::quiet_NaN();
    bodies.velocities[i].y = std::numeric_limits<float>::infinity();
  }
  const Framing framing = framing_of(bodies);
  EXPECT_GT(framing.centre.x, 60);
  EXPECT_LT(framing.centre.x, 100);
  EXPECT_LT(framing.ranges.speed.high, 100);
}

TEST(Framing, IsUsableForOneBodyEqualBodiesAndNone) {
  for (const int count : {0, 1, 10}) {
    Bodies bodies;
    bodies.positions.assign(static_cast<std::size_t>(count), {1, 2, 3, 4});
    bodies.velocities.assign(static_cast<std::size_t>(count), {});
    const Framing framing = framing_of(bodies);
    EXPECT_GT(framing.radius, 0) << count;
    EXPECT_LT(framing.ranges.speed.low, framing.ranges.speed.high) << count;
    EXPECT_LT(framing.ranges.mass.low, framing.ranges.mass.high) << count;
  }
}

TEST(Framing, FitsEveryScene) {
  for (const SceneInfo* info : scenes()) {
    const Scene scene = load_scene({.scene = info->id});
    const Framing framing = framing_of(scene.bodies);
    int inside = 0;
    for (const Vec4& p : scene.bodies.positions) {
      inside += glm::distance(framing.centre, glm::vec3{p.x, p.y, p.z}) <= framing.radius * 1.0001f ? 1 : 0;
    }
    EXPECT_GE(inside, scene.bodies.count() * 94 / 100) << info->id;
    EXPECT_LT(framing.ranges.speed.low, framing.ranges.speed.high) << info->id;
  }
}

}  // namespace
}  // namespace orrery
