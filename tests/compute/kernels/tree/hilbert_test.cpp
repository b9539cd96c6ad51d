#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compute/kernels/tree/body_keys.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

constexpr TreeCube cube{{-3, 1, 7}, 4};

using Cell = std::array<int, 3>;

/// Of the grid of 2^level cells on each axis, the cells in the order of their keys, by the middle of each.
std::vector<Cell> cells_along_the_curve(int level) {
  const int cells = 1 << level;
  const float edge = cube.size / static_cast<float>(cells);
  std::map<std::uint64_t, Cell> by_key;
  for (int x = 0; x < cells; ++x) {
    for (int y = 0; y < cells; ++y) {
      for (int z = 0; z < cells; ++z) {
        const auto middle = [&](float low, int cell) { return low + (static_cast<float>(cell) + 0.5f) * edge; };
        const std::uint64_t key =
            hilbert_key(cube, middle(cube.low.x, x), middle(cube.low.y, y), middle(cube.low.z, z));
        const std::uint64_t place = key >> 3 * (key_levels - level);
        EXPECT_TRUE(by_key.insert({place, {x, y, z}}).second) << "two cells in one place";
      }
    }
  }
  EXPECT_EQ(by_key.begin()->first, 0u);
  EXPECT_EQ(by_key.rbegin()->first, by_key.size() - 1);
  std::vector<Cell> ordered;
  for (const auto& [place, cell] : by_key) ordered.push_back(cell);
  return ordered;
}

TEST(Hilbert, VisitsEveryCellOnceAndStepsThroughFaces) {
  for (int level = 1; level <= 5; ++level) {
    SCOPED_TRACE(level);
    const std::vector<Cell> cells = cells_along_the_curve(level);
    ASSERT_EQ(cells.size(), std::size_t{1} << 3 * level);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      int steps = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) steps += std::abs(cells[i][axis] - cells[i - 1][axis]);
      ASSERT_EQ(steps, 1) << "at place " << i;
    }
  }
}

TEST(Hilbert, StepsThroughFacesOfTheFinestCellsToo) {
  // In a block around the middle, where eight of the coarsest cells meet.
  constexpr TreeCube unit{{0, 0, 0}, 1 << key_levels};  // finest cells have edge 1
  constexpr int first = (1 << 20) - 4, cells = 8;
  std::vector<std::pair<std::uint64_t, Cell>> block;
  for (int x = 0; x < cells; ++x) {
    for (int y = 0; y < cells; ++y) {
      for (int z = 0; z < cells; ++z) {
        const auto at = [](int cell) { return static_cast<float>(first + cell) + 0.5f; };
        block.push_back({hilbert_key(unit, at(x), at(y), at(z)), {x, y, z}});
      }
    }
  }
  std::ranges::sort(block);
  int consecutive = 0;
  for (std::size_t i = 1; i < block.size(); ++i) {
    ASSERT_LT(block[i - 1].first, block[i].first);
    if (block[i].first != block[i - 1].first + 1) continue;
    int steps = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) steps += std::abs(block[i].second[axis] - block[i - 1].second[axis]);
    ASSERT_EQ(steps, 1);
    ++consecutive;
  }
  EXPECT_GE(consecutive, 512 - 8) << "eight runs at most, one in each octant";
}

TEST(Hilbert, BodiesOfEveryCellShareTheirKeysFirstDigits) {
  const Bodies bodies = test::random_ball(3000);
  constexpr TreeCube ball{{-10, -10, -10}, 20};
  for (int level = 1; level <= key_levels; ++level) {
    // Of each cell, named by its Morton prefix, the one Hilbert prefix, and no other cell has that.
    std::map<std::uint64_t, std::uint64_t> prefixes;
    std::set<std::uint64_t> different;
    const int digits_left = 3 * (key_levels - level);
    for (const Vec4& p : bodies.positions) {
      const std::uint64_t cell = morton_key(ball, p.x, p.y, p.z) >> digits_left;
      const std::uint64_t prefix = hilbert_key(ball, p.x, p.y, p.z) >> digits_left;
      ASSERT_EQ(prefixes.insert({cell, prefix}).first->second, prefix) << "level " << level;
      different.insert(prefix);
    }
    EXPECT_EQ(different.size(), prefixes.size()) << "level " << level;
  }
}

TEST(Hilbert, KeysOfAnyPointAreAKey) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float x : {nan, -infinity, infinity, -1e30f, 1e30f, 0.0f, cube.low.x + cube.size}) {
    for (const float y : {nan, infinity, 2.0f}) {
      EXPECT_EQ(hilbert_key(cube, x, y, 8) >> 3 * key_levels, 0u) << x << ' ' << y;
    }
  }
}

}  // namespace
}  // namespace orrery
