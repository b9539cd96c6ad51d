#include <gtest/gtest.h>

#include "compute/core/temporary_folder.h"
#include "compute/scenes/natural_scales.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

/// A cluster in other units: lengths times `length`, masses times `mass`.
Bodies rescaled(float length, float mass) {
  Bodies bodies = find_scene("plummer").generate(200, 1).bodies;
  for (Vec4& p : bodies.positions) p = {p.x * length, p.y * length, p.z * length, p.w * mass};
  return bodies;
}

TEST(ForceRange, HoldsEveryGeneratedScene) {
  for (const SceneInfo* info : scenes()) {
    const Scene scene = load_scene({.scene = info->id});
    EXPECT_FALSE(forces_underflow(scene.bodies, scene.softening)) << info->id;
  }
}

TEST(ForceRange, EndsWhereNoForceIsLeft) {
  EXPECT_TRUE(forces_underflow(rescaled(9e14f, 1e-25f), 1));
  EXPECT_TRUE(forces_underflow(rescaled(1e13f, 1e-3f), 1)) << "a factor of 1e-5 / 1e39";
  EXPECT_FALSE(forces_underflow(rescaled(9e14f, 1e15f), 1)) << "far, but heavy";
  EXPECT_FALSE(forces_underflow(rescaled(1, 1e-25f), 0.01f)) << "light, but near";
}

TEST(ForceRange, IgnoresWhatPullsLittleBesideTheRest) {
  EXPECT_FALSE(forces_underflow({{{0, 0, 0, 1}}, {{}}}, 1)) << "one body";
  EXPECT_FALSE(forces_underflow({{{0, 0, 0, 1}, {1, 0, 0, 1e-30f}, {0, 1, 0, 1e-30f}}, {{}, {}, {}}}, 0.1f))
      << "a star and what moves around it";
  Bodies stray = rescaled(1, 1);
  stray.positions.front().x = 9e14f;
  EXPECT_FALSE(forces_underflow(stray, 0.1f)) << "one body that left";
}

TEST(ForceRange, RefusesAFileAndSaysWhatHelps) {
  const TemporaryFolder folder;
  const auto file = folder / "far.tipsy";
  write_snapshot(file, {{{{-9e14f, 0, 0, 1e-30f}, {9e14f, 0, 0, 1e-30f}}, {{}, {}}}});
  test::expect_failure(
      test::Failure::runtime, [&] { (void)load_scene({.file = file.string()}); }, "far.tipsy", "single precision",
      "rescale the units");
}

}  // namespace
}  // namespace orrery
