#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute/core/force_law.h"
#include "compute/scenes/draft.h"
#include "compute/scenes/portable.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

/// FNV-1a over the bits of all positions, then of all velocities.
std::uint64_t hash(const Bodies& bodies) {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const auto* array : {&bodies.positions, &bodies.velocities}) {
    for (const Vec4& v : *array) {
      for (const float component : {v.x, v.y, v.z, v.w}) {
        value = (value ^ std::bit_cast<std::uint32_t>(component)) * 0x100000001b3u;
      }
    }
  }
  return value;
}

class EveryScene : public testing::TestWithParam<const SceneInfo*> {
 protected:
  static std::vector<int> counts() {
    const SceneInfo& info = *GetParam();
    if (info.fixed_count != 0) return {info.fixed_count};
    std::vector<int> all;
    for (const int count : {1, 2, 3, 4, 5, 7, 31, 100, 4097, 16384}) {
      if (count >= info.min_count) all.push_back(count);
    }
    return all;
  }
};

/// A change here changes what everybody's seeds mean: pictures and measured figures can no longer be compared.
TEST_P(EveryScene, IsTheSameBodiesOnEveryMachine) {
  static const std::map<std::string, std::uint64_t> hashes{
      {"collision", 0x70c208b10e3301a0u},     {"plummer", 0x851c8293f4f93501u},    {"disc", 0xe63e0ebfd3357685u},
      {"cold-collapse", 0xbd6792aa64bfbc73u}, {"two-body", 0x21484283bec58ad6u},   {"spiral", 0x8bd4043f2b5a8ebeu},
      {"antennae", 0xca0710fb739c44ceu},      {"cosmic-web", 0xc421c2060e3020adu}, {"collapse", 0xbf9101191fbfac62u},
  };
  const SceneInfo& info = *GetParam();
  EXPECT_EQ(hash(info.generate(info.fixed_count != 0 ? info.fixed_count : 3000, 7).bodies), hashes.at(info.id));
}

TEST(Generators, CollisionOfManyBodiesIsTheSameOnEveryMachine) {
  EXPECT_EQ(hash(find_scene("collision").generate(16385, 7).bodies), 0x3b9eed937c0f89acu);
}

TEST_P(EveryScene, HasTheCountAskedForAndUsableParameters) {
  for (const int count : counts()) {
    SCOPED_TRACE(count);
    const Scene scene = GetParam()->generate(count, 3);
    EXPECT_EQ(scene.name, GetParam()->id);
    ASSERT_EQ(scene.bodies.count(), count);
    ASSERT_EQ(scene.bodies.velocities.size(), scene.bodies.positions.size());
    EXPECT_GE(scene.softening, Law::min_softening);
    EXPECT_LT(scene.softening, 0.1f);
    EXPECT_GT(scene.time_step, 1e-5f);
    EXPECT_LT(scene.time_step, 0.05f);
  }
}

TEST_P(EveryScene, HasMassOneAndItsCentreOfMassAtRestAtTheOrigin) {
  for (const int count : counts()) {
    SCOPED_TRACE(count);
    const Bodies bodies = GetParam()->generate(count, 11).bodies;
    double mass = 0, sums[6] = {};
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
      const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
      ASSERT_GT(p.w, 0) << i;
      ASSERT_EQ(v.w, 0) << i;
      const double m = p.w;
      mass += m;
      const float components[6] = {p.x, p.y, p.z, v.x, v.y, v.z};
      for (int k = 0; k < 6; ++k) {
        ASSERT_LT(std::abs(components[k]), 100) << i;
        sums[k] += m * static_cast<double>(components[k]);
      }
    }
    EXPECT_NEAR(mass, 1, 1e-6);
    for (const double sum : sums) EXPECT_NEAR(sum, 0, 1e-7);
  }
}

TEST_P(EveryScene, FollowsItsSeed) {
  const SceneInfo& info = *GetParam();
  const int count = info.fixed_count != 0 ? info.fixed_count : 100;
  EXPECT_TRUE(info.generate(count, 5).bodies == info.generate(count, 5).bodies);
  if (info.fixed_count != 0) return;  // drawn by no lot
  EXPECT_FALSE(info.generate(count, 5).bodies == info.generate(count, 6).bodies);
  EXPECT_FALSE(info.generate(count, 0).bodies == info.generate(count, 1).bodies);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryScene, testing::ValuesIn(scenes().begin(), scenes().end()),
                         [](const auto& instance) {
                           std::string name = instance.param->id;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(DrawnInParallel, HasTheNumbersOfItsSeedAndThenOthers) {
  const auto draw = [](Random& random) -> DraftBody { return {1, random.in_ball(), random.in_ball()}; };
  const auto equal = [](const DraftBody& a, const DraftBody& b) { return a.position == b.position; };
  const std::vector<Draft> drafts = drawn_in_parallel(2500, 7, draw, 1000);
  ASSERT_EQ(drafts.size(), 3u);
  EXPECT_EQ(drafts[2].size(), 500u);
  Random random{7};
  for (const DraftBody& body : drafts[0]) EXPECT_TRUE(equal(body, draw(random)));
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_FALSE(equal(drafts[0][i], drafts[1][i]));
    EXPECT_FALSE(equal(drafts[1][i], drafts[2][i]));
  }
  const std::vector<Draft> again = drawn_in_parallel(2500, 7, draw, 1000);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::equal(again[i], drafts[i], equal));
}

TEST(DrawnInParallel, BodiesAreAtRestAroundTheOrigin) {
  const auto draw = [](Random& random) -> DraftBody {
    return {random.uniform(), random.in_ball(), random.gaussian_vector(1)};
  };
  std::vector<Draft> drafts = drawn_in_parallel(2500, 7, draw, 1000);
  const Bodies bodies = finished(drafts);
  ASSERT_EQ(bodies.count(), 2500);
  Vec3d centre, momentum;
  for (std::size_t i = 0; i < 2500; ++i) {
    const Vec4 &x = bodies.positions[i], &v = bodies.velocities[i];
    EXPECT_EQ(x.w, static_cast<float>(drafts[i / 1000][i % 1000].mass));
    centre = {centre.x + x.w * x.x, centre.y + x.w * x.y, centre.z + x.w * x.z};
    momentum = {momentum.x + x.w * v.x, momentum.y + x.w * v.y, momentum.z + x.w * v.z};
  }
  for (const double sum : {centre.x, centre.y, centre.z, momentum.x, momentum.y, momentum.z}) EXPECT_NEAR(sum, 0, 1e-3);
}

}  // namespace
}  // namespace orrery
