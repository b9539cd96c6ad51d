#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "compute/kernels/tree/host_octree.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

/// Found by parts of the bodies, as ranks do.
TreeCube cube_of(std::span<const Vec4> bodies, std::size_t parts) {
  const auto for_each_part = [&](const auto& use) {
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = bodies.size() * i / parts, end = bodies.size() * (i + 1) / parts;
      use(bodies.subspan(begin, end - begin));
    }
  };
  const auto add = [](Vec3d& sum, const Vec3d& more) { sum.x += more.x, sum.y += more.y, sum.z += more.z; };
  Bounds all;
  for_each_part([&](std::span<const Vec4> part) {
    Bounds own;
    own.add(part);
    all.add(own);
  });
  const CubeGrid grid{all};
  Vec3d sums, distances;
  for_each_part([&](std::span<const Vec4> part) { add(sums, grid.sums(part)); });
  for_each_part([&](std::span<const Vec4> part) { add(distances, grid.distances(part, sums)); });
  return grid.cube(sums, distances);
}

bool same(const TreeCube& a, const TreeCube& b) {
  return a.low == b.low && a.size == b.size;
}

bool holds(const TreeCube& cube, const Vec4& p) {
  constexpr double rounding = 1e-6;
  const auto within = [&](double at, double low) {
    return at >= low - rounding * cube.size && at <= low + (1 + rounding) * cube.size;
  };
  return within(p.x, cube.low.x) && within(p.y, cube.low.y) && within(p.z, cube.low.z);
}

TEST(RootCube, DoesNotDependOnTheOrderOfTheBodiesOrOnTheRanks) {
  std::vector<Vec4> bodies = test::random_ball(4001).positions;
  bodies[17] = {1e4f, -3e5f, 0.1f, 1};
  const TreeCube expected = cube_of(bodies, 1);
  std::mt19937 random{1};
  for (const std::size_t parts : {1, 2, 3, 64, 5000}) {
    std::ranges::shuffle(bodies, random);
    EXPECT_TRUE(same(cube_of(bodies, parts), expected)) << parts;
  }
}

TEST(RootCube, HoldsAllBodiesButFarOnes) {
  std::vector<Vec4> bodies = test::random_ball(5000).positions;
  const TreeCube near = cube_of(bodies, 1);
  EXPECT_TRUE(std::ranges::all_of(bodies, [&](const Vec4& body) { return holds(near, body); }));
  for (const float far : {1e3f, 1e9f, 1e30f, std::numeric_limits<float>::max()}) {
    bodies[5] = {far, 0, -far, 1};
    const TreeCube cube = cube_of(bodies, 1);
    EXPECT_FALSE(holds(cube, bodies[5])) << far;
    EXPECT_EQ(std::ranges::count_if(bodies, [&](const Vec4& body) { return holds(cube, body); }), 4999) << far;
    EXPECT_LE(cube.size, far / 30) << "the others do not lose too many bits of their keys";
  }
}

TEST(RootCube, OfBodiesAtOnePlaceHasASize) {
  const std::vector<Vec4> bodies(3, Vec4{1, 2, 3, 1});
  const TreeCube cube = cube_of(bodies, 2);
  EXPECT_EQ(cube.low, (Vec3{1, 2, 3}));
  EXPECT_GT(cube.size, 0);
}

TEST(RootCube, EndsWithNumbersThatAreNone) {
  std::vector<Vec4> bodies = test::random_ball(10).positions;
  const TreeCube expected = cube_of(bodies, 1);
  bodies[3].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(cube_of(bodies, 3).size, 0);
  EXPECT_FALSE(same(cube_of(bodies, 1), expected));
}

}  // namespace
}  // namespace orrery
