#pragma once

#include <bit>
#include <cstdint>

#include "compute/core/vec.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// Number of octree levels below the root that a key distinguishes: its bits on each axis.
inline constexpr int key_levels = 21;

/// Root cube of a tree, with the mass scale for TreeUnits.
struct TreeCube {
  Vec3 low;        ///< corner of smallest coordinates
  float size = 0;  ///< > 0
  float mass = 0;  ///< largest mass of a body; 0: no body has a mass
};

/// Returns a cube that contains a box, whose sides may be zero.
ORRERY_HD inline TreeCube cube_around(Vec3 low, Vec3 high, float mass = 0) {
  const float dx = high.x - low.x, dy = high.y - low.y, dz = high.z - low.z;
  const float xy = dx > dy ? dx : dy;
  const float widest = dz > xy ? dz : xy;
  return {low, widest > 0 ? widest : 1.0f, mass};
}

/// Spreads the lowest 21 bits: puts two zero bits before each.
ORRERY_HD inline std::uint64_t spread_bits(std::uint64_t bits) {
  bits &= 0x1fffff;
  bits = (bits | bits << 32) & 0x001f00000000ffff;
  bits = (bits | bits << 16) & 0x001f0000ff0000ff;
  bits = (bits | bits << 8) & 0x100f00f00f00f00f;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
  return (bits | bits << 2) & 0x1249249249249249;
}

/// Inverts spread_bits(). Ignores the bits in between.
ORRERY_HD inline std::uint64_t gather_bits(std::uint64_t bits) {
  bits &= 0x1249249249249249;
  bits = (bits | bits >> 2) & 0x10c30c30c30c30c3;
  bits = (bits | bits >> 4) & 0x100f00f00f00f00f;
  bits = (bits | bits >> 8) & 0x001f0000ff0000ff;
  bits = (bits | bits >> 16) & 0x001f00000000ffff;
  return (bits | bits >> 32) & 0x1fffff;
}

/// Returns the index in [0, 2^21) of the finest cell that contains a coordinate. Clamps, since rounding may put a
/// coordinate outside.
ORRERY_HD inline std::uint64_t finest_cell(float x, float low, float cells_per_length) {
  constexpr float cells = 1 << key_levels;
  const float cell = (x - low) * cells_per_length;
  return !(cell > 0) ? 0 : cell < cells ? static_cast<std::uint64_t>(cell) : (1 << key_levels) - 1;
}

/// Returns the 63-bit Morton key of a point in the cube.
ORRERY_HD inline std::uint64_t morton_key(const TreeCube& cube, float x, float y, float z) {
  const float cells_per_length = static_cast<float>(1 << key_levels) / cube.size;
  return spread_bits(finest_cell(x, cube.low.x, cells_per_length)) << 2 |
         spread_bits(finest_cell(y, cube.low.y, cells_per_length)) << 1 |
         spread_bits(finest_cell(z, cube.low.z, cells_per_length));
}

/// Returns the index of the cell of `level` >= 1 that contains the key, among its parent's eight children in key order.
ORRERY_HD inline int child_of_key(std::uint64_t key, int level) {
  return static_cast<int>(key >> 3 * (key_levels - level)) & 7;
}

/// Returns the deepest level at which both keys are in one cell.
inline int common_level(std::uint64_t a, std::uint64_t b) {
  return a == b ? key_levels : (std::countl_zero(a ^ b) - 1) / 3;
}

/// Returns the number of keys in a cell of `level` in [0, key_levels].
inline std::uint64_t keys_in_cell(int level) {
  return std::uint64_t{1} << 3 * (key_levels - level);
}

/// Returns the smallest key in the cell of `level` that contains the key.
inline std::uint64_t first_key_in_cell(std::uint64_t key, int level) {
  return key & ~(keys_in_cell(level) - 1);
}

/// Returns the cell of `level` in [0, key_levels] that contains the key.
ORRERY_HD inline TreeCell cell_of_key(const TreeCube& cube, std::uint64_t key, int level) {
  const std::uint64_t prefix = key >> 3 * (key_levels - level);
  const float size = cube.size / static_cast<float>(1 << level);
  const auto center = [&](float low, std::uint64_t bits) {
    return low + (static_cast<float>(gather_bits(bits)) + 0.5f) * size;
  };
  return {
      {center(cube.low.x, prefix >> 2), center(cube.low.y, prefix >> 1), center(cube.low.z, prefix)}, size / 2, level};
}

/// Returns the 63-bit key of a point in the cube along Hilbert's curve (Skilling 2004, AIP Conf. Proc. 707, 381). As
/// with Morton keys, sorting makes the bodies of every octree cell consecutive, but the order of a cell's eight
/// children varies. Consecutive bodies are always close, so that a run of them fills a small box.
ORRERY_HD inline std::uint64_t hilbert_key(const TreeCube& cube, float x, float y, float z) {
  const float cells_per_length = static_cast<float>(1 << key_levels) / cube.size;
  auto a = static_cast<std::uint32_t>(finest_cell(x, cube.low.x, cells_per_length));
  auto b = static_cast<std::uint32_t>(finest_cell(y, cube.low.y, cells_per_length));
  auto c = static_cast<std::uint32_t>(finest_cell(z, cube.low.z, cells_per_length));
  // Undoes the rotations and reflections of the curve in each octant, from the coarsest level on.
  const auto turn = [&a](std::uint32_t& other, std::uint32_t bit) {
    const std::uint32_t below = bit - 1;
    if (other & bit) {
      a ^= below;
    } else {
      const std::uint32_t differ = (a ^ other) & below;
      a ^= differ;
      other ^= differ;
    }
  };
  for (std::uint32_t bit = 1u << (key_levels - 1); bit > 1; bit >>= 1) {
    if (a & bit) a ^= bit - 1;
    turn(b, bit);
    turn(c, bit);
  }
  // The octants of a level follow each other in the order of a Gray code.
  b ^= a;
  c ^= b;
  std::uint32_t flips = 0;
  for (std::uint32_t bit = 1u << (key_levels - 1); bit > 1; bit >>= 1) {
    if (c & bit) flips ^= bit - 1;
  }
  return spread_bits(a ^ flips) << 2 | spread_bits(b ^ flips) << 1 | spread_bits(c ^ flips);
}

/// Keys in [begin, end).
struct KeyRange {
  std::uint64_t begin = 0, end = std::uint64_t{1} << 3 * key_levels;
};

}  // namespace orrery
