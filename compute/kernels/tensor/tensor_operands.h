#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Bodies as rows and columns of matrices for tensor products, in device memory. Coordinates are relative to the mean,
/// scaled below 2^14 by a power of two. Each is hi + lo, two FP16 numbers: hi has 10 bits, counted from the body's
/// greatest coordinate, lo the next 11. RowBlock and ColumnTile document the layout.
struct TensorOperands {
  static constexpr int rows_per_block = 16, words_per_block = 256;
  static constexpr int columns_per_tile = 8, words_per_tile = 160;

  std::uint32_t* rows;     ///< RowBlocks, one after the other
  std::uint32_t* columns;  ///< ColumnTiles, one after the other
  Vec4* bodies;            ///< x, y, z as hi + lo, and m relative to the greatest mass
  Vec4* scale;             ///< one entry: the mean, and in w the factor of the coordinates
};

/// Word offsets in a block of 16 rows. In the fragments of mma.sync, lane 4 g + t holds the words k = t, t + 4, ... of
/// the rows g and g + 8.
struct RowBlock {
  static constexpr int large_begin = 128;    ///< behind four words per lane of the small product
  static constexpr int weights_begin = 192;  ///< behind two words per lane of the large product

  static constexpr int lane(int row, int k) { return row % 8 * 4 + k % 4; }
  /// Word k < 8 of the small product: both rows' words t, then both rows' words t + 4.
  static constexpr int small(int row, int k) { return lane(row, k) * 4 + row / 8 + k / 4 * 2; }
  /// Word k < 4 of the large product.
  static constexpr int large(int row, int k) { return large_begin + lane(row, k) * 2 + row / 8; }
  /// m x, m y, m z, m of a row, not in fragment order.
  static constexpr int weight(int row, int k) { return weights_begin + row * 4 + k; }
};

/// Word offsets in a tile of 8 columns. Lane 4 g + t holds the words t and t + 4 of column g.
struct ColumnTile {
  static constexpr int large_begin = 128;  ///< behind four words per lane: two of the small product, two of the weights

  static constexpr int small(int column, int k) { return (column * 4 + k % 4) * 4 + k / 4; }
  /// Word k < 4 of the large product.
  static constexpr int large(int column, int k) { return large_begin + column * 4 + k; }
  /// Weight k < 8 of the third product: m x, m y, m z, m as TF32 numbers, then their remainders. The other factor is a
  /// result fragment: its columns 2 t and 2 t + 1, in lane t, count as k = t and t + 4.
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
