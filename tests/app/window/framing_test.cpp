#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/window/lane.h"
#include "compute/scenes/scene.h"
#include "render/camera.h"

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
  EXPECT_GT(framing.radius, 47.5f);  // of 95 %
  EXPECT_LT(framing.radius, 60);
  EXPECT_NEAR(framing.ranges.speed.low, 2, 1);
  EXPECT_NEAR(framing.ranges.speed.high, 97, 1);
}

TEST(Framing, KnowsTheOnlyMass) {
  Bodies bodies = line();
  EXPECT_FALSE(framing_of(bodies).only_mass);
  for (Vec4& body : bodies.positions) body.w = 0.25f;
  EXPECT_EQ(framing_of(bodies).only_mass, 0.25f);
  bodies.positions.back().w = 0.5f;
  EXPECT_FALSE(framing_of(bodies).only_mass) << "also a single other body counts";
  EXPECT_FALSE(framing_of({}).only_mass);
}

TEST(Framing, OneBodyFarOutChangesLittle) {
  Bodies bodies = line();
  bodies.positions.push_back({1e9f, 1e9f, 1e9f, 1});
  bodies.velocities.push_back({1e9f, 0, 0, 0});
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.radius, 65);
  EXPECT_LT(framing.ranges.speed.high, 110);
}

TEST(Framing, OfAllHoldsTheFarthestBodiesToo) {
  Bodies bodies = line();
  for (const float far : {-900.0f, 5000.0f}) {
    bodies.positions.push_back({far, 5, -3, 1});
    bodies.velocities.push_back({});
  }
  bodies.positions.push_back({std::numeric_limits<float>::infinity(), 5, -3, 1});
  bodies.velocities.push_back({});
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.radius, 65);
  EXPECT_EQ(framing.all.centre, (glm::vec3{2050, 5, -3}));
  EXPECT_GT(framing.all.radius, 1.1f * 2950);
  EXPECT_LT(framing.all.radius, 1.3f * 2950);
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

/// The share of the bodies that lie on the screen, a tenth of its sides left free: at the first frame, or after F.
double seen_share(const SceneRequest& request, float aspect, bool of_all = false) {
  const Bodies bodies = load_scene(request).bodies;
  const Framing framing = framing_of(bodies);
  EXPECT_LT(framing.ranges.speed.low, framing.ranges.speed.high) << request.scene;
  render::OrbitCamera camera;
  camera.frame(framing.centre, framing.radius);
  if (of_all) camera.show(framing.all.centre, framing.all.radius);
  const glm::mat4 to_screen = camera.projection(aspect) * camera.view();
  const auto seen = std::ranges::count_if(bodies.positions, [&](const Vec4& p) {
    const glm::vec4 clip = to_screen * glm::vec4{p.x, p.y, p.z, 1};
    return std::abs(clip.x) < 0.9f * clip.w && std::abs(clip.y) < 0.9f * clip.w;
  });
  return static_cast<double>(seen) / bodies.count();
}

TEST(Framing, ShowsEverySceneWithAMargin) {
  for (const SceneInfo* info : scenes()) {
    for (const float aspect : {0.5f, 1.0f, 1.8f}) {
      EXPECT_GE(seen_share({.scene = info->id}, aspect), 0.95) << info->id << " at " << aspect;
      EXPECT_EQ(seen_share({.scene = info->id}, aspect, true), 1) << info->id << " at " << aspect;
    }
  }
}

TEST(Framing, ShowsAllOfFewBodies) {
  for (const SceneInfo* info : scenes()) {
    for (const int count : {info->min_count, 5, 64}) {
      const std::int64_t asked = info->fixed_count > 0 ? 0 : std::max(count, info->min_count);
      for (const float aspect : {0.5f, 1.8f}) {
        EXPECT_EQ(seen_share({.scene = info->id, .count = asked}, aspect), 1) << info->id << " of " << asked;
      }
    }
  }
}

}  // namespace
}  // namespace orrery
