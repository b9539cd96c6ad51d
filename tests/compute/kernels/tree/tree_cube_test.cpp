#include "compute/kernels/tree/tree_cube.h"

#include "compute/kernels/tree/host_octree.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using Cell = std::array<int, 3>;

constexpr TreeCube cube{{-3, 1, 7}, 4};

bool holds(const TreeCube& cube, const Vec4& p) {
  constexpr double rounding = 1e-6;
  const auto within = [&](double at, double low) {
    return at >= low - rounding * cube.size && at <= low + (1 + rounding) * cube.size;
  };
  return within(p.x, cube.low.x) && within(p.y, cube.low.y) && within(p.z, cube.low.z);
}

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

/// Returns the cells of a grid of 2^level cells on each axis, in the order of the keys of their middles.
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
    // Each cell, named by its Morton prefix, has exactly one Hilbert prefix, which no other cell has.
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
