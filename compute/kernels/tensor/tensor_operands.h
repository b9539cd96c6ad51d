#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/device_array.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Bodies as matrices for tensor products, in device memory.
///
/// Coordinates count from the mean of all bodies, in units of a power of two that brings them below 2^14. Each is a sum
/// hi + lo of two halves: hi has 10 bits, counted from the body's greatest coordinate, lo the next 11. So
/// |x_i - x_j|^2 + eps^2 is a sum of two products of a row of body i and a column of body j: the first, of the hi
/// alone, is |hi_i - hi_j|^2 and exact for bodies near each other, since all its terms are multiples of a number 2^24
/// times smaller than the largest; the second is small. The squares themselves are split into halves as well, and each
/// part meets a power of two on the other side.
///
/// Rows and columns lie as the fragments of mma.sync that the lanes of a warp hold; see RowBlock and ColumnTile.
struct TensorOperands {
  static constexpr int rows_per_block = 16, words_per_block = 256;
  static constexpr int columns_per_tile = 8, words_per_tile = 160;

  std::uint32_t* rows;     ///< RowBlocks, one after the other
  std::uint32_t* columns;  ///< ColumnTiles, one after the other
  Vec4* bodies;            ///< x, y, z as hi + lo, and m over the greatest mass
  Vec4* scale;             ///< one entry: the mean, and in w the factor of the coordinates
};

/// Where the words of a block of 16 rows lie. In the fragments of mma.sync, lane 4 g + t holds the words k = t, t + 4,
/// ... of the rows g and g + 8.
struct RowBlock {
  static constexpr int large_begin = 128;    ///< behind four words per lane of the small product
  static constexpr int weights_begin = 192;  ///< behind two words per lane of the large product

  static constexpr int lane(int row, int k) { return row % 8 * 4 + k % 4; }
  /// Word k < 8 of the small product: both rows' words t, then both rows' words t + 4.
  static constexpr int small(int row, int k) { return lane(row, k) * 4 + row / 8 + k / 4 * 2; }
  /// Word k < 4 of the large product.
  static constexpr int large(int row, int k) { return large_begin + lane(row, k) * 2 + row / 8; }
  /// m x, m y, m z, m of a row: no fragment.
  static constexpr int weight(int row, int k) { return weights_begin + row * 4 + k; }
};

/// Where the words of a tile of 8 columns lie. Lane 4 g + t holds the words t and t + 4 of column g.
struct ColumnTile {
  static constexpr int large_begin = 128;  ///< behind four words per lane: two of the small product, two of the weights

  static constexpr int small(int column, int k) { return (column * 4 + k % 4) * 4 + k / 4; }
  /// Word k < 4 of the large product.
  static constexpr int large(int column, int k) { return large_begin + column * 4 + k; }
  /// Weight k < 8 of the third product: m x, m y, m z, m as TF32 numbers, then what TF32 left of them. The factors are
  /// the result of another product, with columns 2 t and 2 t + 1 in lane t, which count as k = t and t + 4 here.
  static constexpr int weight(int column, int k) { return (k * 4 + column / 2) * 4 + 2 + column % 2; }
};

/// Owns a TensorOperands and the scratch memory to make it.
class TensorWorkspace {
 public:
  explicit TensorWorkspace(const cuda::Device& device) : device_{device} {}
  /// Takes memory for `padded` bodies, a multiple of 16. Throws UsageError if the GPU is short of it.
  void prepare(int padded);
  /// Enqueues a pass that makes the operands. Bodies from args.count to `padded` have no mass and are far from all
  /// others.
  TensorOperands make(const ForceArgs& args, int padded);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<std::uint32_t> words_;
  cuda::DeviceArray<Vec4> vectors_;
};

}  // namespace orrery
