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
/// Rows and columns lie as the fragments of mma.sync that the lanes of a warp hold.
struct TensorOperands {
  static constexpr int rows_a_block = 16, words_a_block = 256;
  static constexpr int columns_a_tile = 8, words_a_tile = 160;

  /// A block of 16 rows: four words a lane of the second product, two of the first, then m x, m y, m z, m of each row.
  std::uint32_t* rows;
  /// A tile of 8 columns: two words a lane of the second product and two of m x, m y, m z, m, as TF32 numbers and their
  /// remainders; then a word a lane of the first product.
  std::uint32_t* columns;
  Vec4* bodies;  ///< x, y, z as hi + lo, and m over the greatest mass
  Vec4* scale;   ///< of one entry: the mean, and in w by what coordinates are multiplied
};

/// Owns a TensorOperands and what making it takes.
class TensorWorkspace {
 public:
  explicit TensorWorkspace(const cuda::Device& device) : device_{device} {}
  /// Takes room for `padded` bodies, a multiple of 16. Throws UsageError where the GPU has none.
  void prepare(int padded);
  /// Enqueues the making of the operands. From args.count to `padded` follow bodies without mass, far from all others.
  TensorOperands make(const ForceArgs& args, int padded);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<std::uint32_t> words_;
  cuda::DeviceArray<Vec4> vectors_;
};

}  // namespace orrery
