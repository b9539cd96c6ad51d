// cpu-symmetric, and how all pairs are divided into units of work.
#include "compute/kernels/parts/pair_items.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(TileRounds, HoldEachPairOnceAndEachTileOnceARound) {
  for (const int tiles : {1, 2, 3, 4, 5, 8, 17, 64}) {
    SCOPED_TRACE(tiles);
    const TileRounds rounds{tiles};
    std::set<std::pair<int, int>> pairs;
    for (int round = 0; round < rounds.rounds(); ++round) {
      std::vector<int> met(static_cast<std::size_t>(tiles));
      for (int slot = 0; slot < rounds.slots(); ++slot) {
        const auto [a, b] = rounds.pair(round, slot);
        if (a > b) continue;
        EXPECT_TRUE(pairs.insert({a, b}).second) << a << ", " << b << " meet twice";
        ++met.at(static_cast<std::size_t>(a));
        if (a != b) ++met.at(static_cast<std::size_t>(b));
      }
      EXPECT_EQ(met, std::vector<int>(met.size(), 1)) << "round " << round;
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(tiles) * (static_cast<std::size_t>(tiles) + 1) / 2);
  }
}

std::vector<Vec4> accelerations(const Bodies& bodies, const char* threads, const char* tile) {
  const KernelInfo& info = *test::find_kernel("cpu-symmetric");
  Settings settings{info};
  settings.set("threads", threads);
  settings.set("tile", tile);
  return test::accelerations(info, settings, bodies, {});
}

TEST(CpuSymmetric, HasTheSameBitsForAnyNumberOfThreads) {
  const Bodies bodies = test::random_ball(3001);
  const auto by_one = accelerations(bodies, "1", "64");
  for (const char* threads : {"2", "4", "16"}) {
    for (int run = 0; run < 3; ++run) EXPECT_EQ(accelerations(bodies, threads, "64"), by_one) << threads << " threads";
  }
}

TEST(CpuSymmetric, ForcesCancelToRounding) {
  const Bodies bodies = test::random_ball(3001);
  const auto result = accelerations(bodies, "auto", "auto");
  double x = 0, y = 0, z = 0, total = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double mass = bodies.positions[i].w;
    x += mass * result[i].x;
    y += mass * result[i].y;
    z += mass * result[i].z;
    total += mass * std::hypot(result[i].x, result[i].y, result[i].z);
  }
  EXPECT_LT(std::hypot(x, y, z), 1e-8 * total);
}

/// How often each unordered pair of tiles is evaluated, a tile with one of its own group from either side.
std::map<std::pair<int, int>, int> meetings(const PairItems& items) {
  std::map<std::pair<int, int>, int> meetings;
  for (long long u = 0; u < items.units(); ++u) {
    const PairItems::Unit unit = items.unit(u);
    EXPECT_LT(unit.offset, unit.row);
    const int partner = items.partner(unit.group, unit.offset);
    if (partner >= items.tiles) continue;
    for (int own = unit.group * items.tiles_per_group; own < (unit.group + 1) * items.tiles_per_group; ++own) {
      if (own < items.tiles) ++meetings[std::minmax(own, partner)];
    }
  }
  return meetings;
}

TEST(PairItems, EveryTwoTilesMeetOnce) {
  for (const int tiles_per_group : {1, 2, 4, 12}) {
    for (int tiles = 1; tiles <= 60; ++tiles) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles in groups of " + std::to_string(tiles_per_group));
      const PairItems items{tiles * PairItems::tile - 5, tiles_per_group};
      ASSERT_EQ(items.tiles, tiles);
      const auto counted = meetings(items);
      ASSERT_EQ(counted.size(), static_cast<std::size_t>(tiles) * (tiles + 1) / 2);
      for (const auto& [pair, times] : counted) {
        const bool one_group = pair.first / tiles_per_group == pair.second / tiles_per_group;
        // Within a group each tile looks at the other: two one-sided sums. A tile meets itself once.
        ASSERT_EQ(times, one_group && pair.first != pair.second ? 2 : 1) << pair.first << ", " << pair.second;
      }
    }
  }
}

TEST(PairItems, UnitsOfAGroupFollowEachOther) {
  const PairItems items{1000, 4};  // 32 tiles, 8 groups: the first four have long rows
  PairItems::Unit before = items.unit(0);
  EXPECT_EQ(before.group, 0);
  EXPECT_EQ(before.offset, 0);
  for (long long u = 1; u < items.units(); ++u) {
    const PairItems::Unit unit = items.unit(u);
    if (before.offset + 1 < before.row) {
      EXPECT_EQ(unit.group, before.group);
      EXPECT_EQ(unit.offset, before.offset + 1);
    } else {
      EXPECT_EQ(unit.group, before.group + 1);
      EXPECT_EQ(unit.offset, 0);
    }
    before = unit;
  }
  EXPECT_EQ(before.group, items.groups - 1);
  EXPECT_EQ(before.offset, before.row - 1);
}

TEST(PairItems, MillionsOfBodiesCountBeyondInt) {
  const PairItems items{10'000'000, 8};
  EXPECT_GT(items.units(), 1LL << 32);
  const PairItems::Unit last = items.unit(items.units() - 1);
  EXPECT_EQ(last.group, items.groups - 1);
  EXPECT_EQ(last.offset, last.row - 1);
}

}  // namespace
}  // namespace orrery
