#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// Divides all pairs of `count` bodies, each once, among any number of warps. A tile is 32 bodies. A group is
/// `tiles_per_group` tiles, which a warp holds in registers, one body of each tile per lane. A unit of work is a group
/// and a tile.
///
/// Group a meets the tiles of the groups a, a + 1, ... a + half the number of groups, modulo that number: so two groups
/// meet once. If the number of groups is even, opposite groups would meet twice, so only the first half of the groups
/// meets the opposite one. A group with itself is summed one-sided. The units are numbered group after group, and each
/// warp takes a range of them: all warps do the same work, for any number of bodies.
struct PairItems {
  static constexpr int tile = 32;

  int tiles;  ///< with bodies
  int tiles_per_group;
  int groups;
  int short_row;    ///< units of a group ...
  int long_groups;  ///< ... but the first `long_groups` groups have
  int long_row;     ///< this many

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

  /// The tile that a group meets at this offset; >= `tiles` if it has no bodies.
  ORRERY_HD int partner(int group, int offset) const {
    const int partner = group * tiles_per_group + offset, all = groups * tiles_per_group;
    return partner < all ? partner : partner - all;
  }
};

}  // namespace orrery
