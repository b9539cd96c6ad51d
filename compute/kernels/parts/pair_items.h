#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// Division of all pairs of `count` bodies, each once, among any number of warps. A tile is 32 bodies. A warp holds a
/// group of `tiles_per_group` tiles in registers, one body of each tile per lane. A unit of work is a group and a
/// partner tile. Units are numbered group by group, and each warp takes an equal range of them.
///
/// Group a is paired with the tiles of groups a to a + groups / 2, modulo `groups`, so that two groups are paired once.
/// If `groups` is even, opposite groups would be paired twice. So only the first half of the groups is paired with the
/// opposite group. Pairs within a group are summed one-sided.
struct PairItems {
  static constexpr int tile = 32;

  int tiles;  ///< number of tiles with bodies
  int tiles_per_group;
  int groups;
  int short_row;    ///< number of units of a group that is not paired with its opposite group
  int long_groups;  ///< number of groups that are paired with their opposite group: the first ones
  int long_row;     ///< number of units of each of those groups

  ORRERY_HD PairItems(int count, int tiles_in_group)
      : tiles{(count - 1) / tile + 1},
        tiles_per_group{tiles_in_group},
        groups{(tiles - 1) / tiles_in_group + 1},
        short_row{tiles_in_group * (1 + (groups - 1) / 2)},
        long_groups{groups % 2 == 0 ? groups / 2 : 0},
        long_row{short_row + tiles_in_group} {}

  ORRERY_HD long long units() const {
    return static_cast<long long>(short_row) * groups + static_cast<long long>(tiles_per_group) * long_groups;
  }

  struct Unit {
    int group;
    int offset;  ///< partner tile, counted from the group's own first tile
    int row;     ///< number of units of the group
  };
  ORRERY_HD Unit unit(long long index) const {
    const long long in_long_rows = static_cast<long long>(long_groups) * long_row;
    const bool is_long = index < in_long_rows;
    const int row = is_long ? long_row : short_row;
    const long long beyond = is_long ? index : index - in_long_rows;
    const int group = static_cast<int>(beyond / row);
    return {(is_long ? 0 : long_groups) + group, static_cast<int>(beyond - static_cast<long long>(group) * row), row};
  }

  /// Returns the partner tile of a group at this offset; >= `tiles` if that tile has no bodies.
  ORRERY_HD int partner(int group, int offset) const {
    const int partner = group * tiles_per_group + offset, all = groups * tiles_per_group;
    return partner < all ? partner : partner - all;
  }
};

}  // namespace orrery
