#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/kernels/tree/body_keys.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

bool holds(const TreeCube& cube, const TreeCell& cell, const Vec4& point) {
  const float half = cell.half_size + 1e-6f * cube.size;  // rounding moves a face
  return std::abs(point.x - cell.center.x) <= half && std::abs(point.y - cell.center.y) <= half &&
         std::abs(point.z - cell.center.z) <= half;
}

TEST(Morton, SpreadsAndGathersBits) {
  for (const std::uint64_t bits : {0x0u, 0x1u, 0x1fffffu, 0x155555u, 0x12345u}) {
    std::uint64_t expected = 0;
    for (int b = 0; b < key_levels; ++b) expected |= (bits >> b & 1) << 3 * b;
    EXPECT_EQ(spread_bits(bits), expected);
    EXPECT_EQ(gather_bits(expected), bits);
    EXPECT_EQ(gather_bits(expected | expected << 1 | expected << 2), bits);
  }
}

TEST(Morton, OrdersTheEightChildrenOfTheCube) {
  const TreeCube cube{{0, 0, 0}, 8};
  for (int child = 0; child < 8; ++child) {
    const auto at = [&](int bit) { return child & bit ? 7.0f : 1.0f; };
    EXPECT_EQ(child_of_key(morton_key(cube, at(4), at(2), at(1)), 1), child);
  }
  EXPECT_EQ(morton_key(cube, 0, 0, 0), 0u);
  EXPECT_EQ(morton_key(cube, 8, 8, 8), (std::uint64_t{1} << 63) - 1) << "the far faces belong to the last cells";
}

TEST(Morton, CellsHoldTheirPointsOnEveryLevel) {
  const Bodies bodies = test::random_ball(500);
  Vec3 low{1e9f, 1e9f, 1e9f}, high{-1e9f, -1e9f, -1e9f};
  for (const Vec4& p : bodies.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const TreeCube cube = cube_around(low, high);
  for (const Vec4& p : bodies.positions) {
    const std::uint64_t key = morton_key(cube, p.x, p.y, p.z);
    for (int level = 0; level <= key_levels; ++level) {
      const TreeCell cell = cell_of_key(cube, key, level);
      EXPECT_EQ(cell.level, level);
      EXPECT_FLOAT_EQ(cell.half_size, cube.size / 2 / std::exp2(static_cast<float>(level)));
      EXPECT_TRUE(holds(cube, cell, p)) << "level " << level;
    }
  }
}

TEST(Morton, OnePointHasACubeOfItsOwn) {
  const TreeCube cube = cube_around({3, -2, 1}, {3, -2, 1});
  EXPECT_GT(cube.size, 0);
  EXPECT_EQ(morton_key(cube, 3, -2, 1), 0u);
}

}  // namespace
}  // namespace orrery
