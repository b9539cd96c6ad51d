#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// Divides all pairs of `count` bodies, each once, among any number of warps. 32 bodies are a tile, `lanes_bodies`
/// tiles a group: the bodies that a warp holds in registers, that many a lane. A unit of work is a group and a tile.
///
/// Group a meets the tiles of the groups a, a + 1, ... a + half the number of groups, in a circle: so two groups meet
/// once. Where the number of groups is even, the groups opposite each other would meet twice, and only the first half
/// of them looks across. With itself a group is summed one-sided. The units lie in one row, group after group, and each
/// warp takes a stretch of it: all do the same work, whatever the number of bodies.
struct PairItems {
  static constexpr int tile = 32;

  int tiles;  ///< that hold bodies
  int tiles_per_group;
  int groups;
  int short_row;    ///< units of a group
  int long_groups;  ///< so many of the first groups have
  int long_row;     ///< units instead

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
    int offset;  ///< of the partner tile, counted from the group's own first tile on
    int row;     ///< the group's units
  };
  ORRERY_HD Unit unit(long long index) const {
    const long long in_long_rows = static_cast<long long>(long_groups) * long_row;
    const bool is_long = index < in_long_rows;
    const int row = is_long ? long_row : short_row;
    const long long beyond = is_long ? index : index - in_long_rows;
    const int group = static_cast<int>(beyond / row);
    return {(is_long ? 0 : long_groups) + group, static_cast<int>(beyond - static_cast<long long>(group) * row), row};
  }

  /// The tile that a group meets at this offset; >= `tiles` where no body is in it.
  ORRERY_HD int partner(int group, int offset) const {
    const int partner = group * tiles_per_group + offset, all = groups * tiles_per_group;
    return partner < all ? partner : partner - all;
  }
};

}  // namespace orrery
