#pragma once

#include <cstdint>

#include "compute/kernels/division_facet.h"
#include "compute/kernels/tree/morton.h"

namespace orrery {

inline constexpr int most_borders = most_devices - 1;

/// The cell of the octree in which one domain ends and the next begins: it has the body before which there are as many
/// as the domains before it have. Found from the root down, three levels at a time, by counting the keys of the cells
/// below: their digits.
struct DomainBorder {
  static constexpr int levels_per_digit = 3, digits = 1 << 3 * levels_per_digit;
  static_assert(key_levels % levels_per_digit == 0);
  /// A cell with so few bodies is not divided further: it does not matter which of them belong to which domain.
  static constexpr int few = 16;

  // No initial values: a kernel has borders in shared memory.
  std::uint64_t begin;  ///< its first key
  std::int64_t level;   ///< 64 bits, so that a border has no padding, whose copies initcheck would report
  int before;           ///< bodies with smaller keys
  int inside;           ///< bodies

  /// Where the search begins: `rank` of `count` bodies are in the domains before it.
  ORRERY_HD static DomainBorder of_all(int rank, int count) {
    if (rank < count) return {0, 0, 0, count};
    return {std::uint64_t{1} << 3 * key_levels, key_levels, count, 0};  // behind all keys
  }

  ORRERY_HD bool found() const { return inside <= few || level == key_levels; }
  ORRERY_HD std::uint64_t end() const { return begin + (std::uint64_t{1} << bits_below()); }
  ORRERY_HD bool has(std::uint64_t key) const { return (key ^ begin) >> bits_below() == 0; }
  /// Of a key in the cell, unless it is found.
  ORRERY_HD int digit(std::uint64_t key) const {
    return static_cast<int>(key >> (bits_below() - 3 * levels_per_digit)) & (digits - 1);
  }
  /// The cell of keys with this digit, of which there are `count` behind `smaller` keys in this cell.
  ORRERY_HD DomainBorder at_digit(int digit, int smaller, int count) const {
    const int shift = bits_below() - 3 * levels_per_digit;
    return {begin | static_cast<std::uint64_t>(digit) << shift, level + levels_per_digit, before + smaller, count};
  }

 private:
  ORRERY_HD int bits_below() const { return static_cast<int>(3 * (key_levels - level)); }
};

static_assert(sizeof(DomainBorder) == 2 * sizeof(std::uint64_t) + 2 * sizeof(int));  // no byte is padding

/// Which of the stretches that `count` borders make a key lies in, in the order of the keys: 0 before the first border,
/// 2 count behind the last one. The bodies of a border's cell are a stretch of their own.
ORRERY_HD inline int stretch_of(std::uint64_t key, const DomainBorder* borders, int count) {
  int stretch = 0;
  for (int i = 0; i < count; ++i) stretch += (key >= borders[i].begin) + (key >= borders[i].end());
  return stretch;
}

}  // namespace orrery
