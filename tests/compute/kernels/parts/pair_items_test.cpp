// The division of all pairs into units of work: each two tiles meet once, whatever their number.
#include "compute/kernels/parts/pair_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

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
