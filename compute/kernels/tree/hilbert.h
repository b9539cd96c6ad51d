#pragma once

#include "compute/kernels/tree/morton.h"

namespace orrery {

/// The 63-bit key of a point in the cube by its place on Hilbert's curve. As with Morton keys, the bodies of every cell
/// of the octree are consecutive when sorted; the order of a cell's eight children varies. But consecutive bodies are
/// always close, so that a run of them fills a small box. Skilling 2004, AIP Conf. Proc. 707, 381.
ORRERY_HD inline std::uint64_t hilbert_key(const TreeCube& cube, float x, float y, float z) {
  const float cells_per_length = static_cast<float>(1 << key_levels) / cube.size;
  auto a = static_cast<std::uint32_t>(finest_cell(x, cube.low.x, cells_per_length));
  auto b = static_cast<std::uint32_t>(finest_cell(y, cube.low.y, cells_per_length));
  auto c = static_cast<std::uint32_t>(finest_cell(z, cube.low.z, cells_per_length));
  // From the coarsest level on, undo the rotations and reflections of the curve in each octant.
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
  // The octants of a level follow each other as a Gray code counts.
  b ^= a;
  c ^= b;
  std::uint32_t flips = 0;
  for (std::uint32_t bit = 1u << (key_levels - 1); bit > 1; bit >>= 1) {
    if (c & bit) flips ^= bit - 1;
  }
  return spread_bits(a ^ flips) << 2 | spread_bits(b ^ flips) << 1 | spread_bits(c ^ flips);
}

}  // namespace orrery
