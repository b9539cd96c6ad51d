#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/pair_items.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/tensor/tensor_products.h"

// This part makes the operands of the tensor products.
namespace orrery {
namespace {

/// Bodies as rows and columns of matrices for tensor products, in device memory. Coordinates are relative to the mean
/// and scaled by a power of two to less than 2^14. Each is hi + lo, two FP16 numbers: hi has 10 bits, counted from the
/// body's greatest coordinate, and lo the next 11. RowBlock and ColumnTile document the layout.
struct TensorOperands {
  static constexpr int rows_per_block = 16, words_per_block = 256;
  static constexpr int columns_per_tile = 8, words_per_tile = 160;

  std::uint32_t* rows;     ///< array of RowBlocks
  std::uint32_t* columns;  ///< array of ColumnTiles
  Vec4* bodies;            ///< x, y, z as hi + lo, and m over the greatest mass
  Vec4* scale;             ///< one entry: the mean position, and in w the factor of the coordinates
};

/// Word offsets in a block of 16 rows. In a fragment of mma.sync, lane 4 g + t holds the words k = t, t + 4, ... of
/// rows g and g + 8.
struct RowBlock {
  static constexpr int large_begin = 128;    ///< the small product's words precede: four per lane
  static constexpr int weights_begin = 192;  ///< the large product's words precede: two per lane

  static constexpr int lane(int row, int k) { return row % 8 * 4 + k % 4; }
  /// Returns the offset of word k < 8 of a row in the small product. A lane has words t of both rows, then t + 4.
  static constexpr int small(int row, int k) { return lane(row, k) * 4 + row / 8 + k / 4 * 2; }
  /// Returns the offset of word k < 4 of a row in the large product.
  static constexpr int large(int row, int k) { return large_begin + lane(row, k) * 2 + row / 8; }
  /// Returns the offset of weight k < 4 of a row: m x, m y, m z, m. Weights are not in fragment order.
  static constexpr int weight(int row, int k) { return weights_begin + row * 4 + k; }
};

/// Word offsets in a tile of 8 columns. Lane 4 g + t holds the words t and t + 4 of column g.
struct ColumnTile {
  static constexpr int large_begin = 128;  ///< four words per lane precede: two of the small product, two weights

  static constexpr int small(int column, int k) { return (column * 4 + k % 4) * 4 + k / 4; }
  /// Returns the offset of word k < 4 of a column in the large product.
  static constexpr int large(int column, int k) { return large_begin + column * 4 + k; }
  /// Returns the offset of weight k < 8 of a column in the third product: m x, m y, m z, m as TF32 numbers, then their
  /// remainders. The other factor is a result fragment, so k is in the order that add_product_tf32() describes.
  static constexpr int weight(int column, int k) { return (k * 4 + column / 2) * 4 + 2 + column % 2; }
};

/// Owner of TensorOperands and of the scratch memory to make them.
class TensorWorkspace {
 public:
  explicit TensorWorkspace(const cuda::Device& device) : device_{device} {}
  /// Allocates memory for `padded` bodies, a multiple of 16. Throws UsageError if the GPU's memory is short.
  void prepare(int padded);
  /// Enqueues the passes that make the operands. Bodies from args.count to `padded` are massless and far from all
  /// others.
  TensorOperands make(const ForceArgs& args, int padded);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<std::uint32_t> words_;
  cuda::DeviceArray<Vec4> vectors_;
};

/// Sum and bounds of the positions relative to body 0, so that all zeros is a valid start. `least` and `greatest` hold
/// floats as cuda::ordered_bits().
struct Bounds {
  float sum[3];
  int least[3], greatest[3];
};
constexpr std::size_t bounds_words = 16;  // room for Bounds; keeps the operands after it aligned
static_assert(sizeof(Bounds) <= bounds_words * sizeof(std::uint32_t));

constexpr int operand_block = 128;
constexpr int bounding_blocks = 64;

__global__ void find_bounds(const Vec4* __restrict__ bodies, int count, Bounds* bounds) {
  const Vec4 origin = bodies[0];
  Vec3 sum;
  cuda::Box box{.low = {}, .high = {}};
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const Vec4 body = bodies[i];
    const Vec3 at{body.x - origin.x, body.y - origin.y, body.z - origin.z};
    sum = {sum.x + at.x, sum.y + at.y, sum.z + at.z};
    box.add(at, at);
  }
  constexpr cuda::Warp warp;
  box.join(warp);
  const float sums[3] = {sum_over(warp, sum.x), sum_over(warp, sum.y), sum_over(warp, sum.z)};
  if (threadIdx.x % 32 != 0) return;
  const float least[3] = {box.low.x, box.low.y, box.low.z}, greatest[3] = {box.high.x, box.high.y, box.high.z};
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    atomicAdd(bounds->sum + c, sums[c]);
    atomicMin(bounds->least + c, cuda::ordered_bits(least[c]));
    atomicMax(bounds->greatest + c, cuda::ordered_bits(greatest[c]));
  }
}

/// Returns the mean position and, in w, the power of two that scales coordinates and the softening below 2^14.
__device__ Vec4 scale_of(const Bounds& bounds, const Vec4& origin, int count, float softening) {
  float mean[3], most = softening;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    mean[c] = bounds.sum[c] / static_cast<float>(count);
    most = fmaxf(most, fmaxf(mean[c] - cuda::from_ordered_bits(bounds.least[c]),
                             cuda::from_ordered_bits(bounds.greatest[c]) - mean[c]));
  }
  const int exponent = ilogbf(most * 1.00001f);  // 1.00001 covers the rounding of the mean
  return {origin.x + mean[0], origin.y + mean[1], origin.z + mean[2], scalbnf(1.0f, 13 - exponent)};
}

__device__ float nearest_half(float value) {
  return __half2float(__float2half_rn(value));
}

/// Returns the bits of two FP16 numbers, the first in the low half.
__device__ std::uint32_t pair_of(float low, float high) {
  const __half2 halves = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}

/// Splits `value` into FP16 numbers: value = parts[0] factors[0] + parts[1] factors[1] + ... Each factor is 2^-11 of
/// the previous one, so all parts have the same order of magnitude.
template <int count>
struct Split {
  float parts[count], factors[count];

  __device__ Split(float value, float greatest_factor) {
    float rest = value / greatest_factor, factor = greatest_factor;
#pragma unroll
    for (int p = 0; p < count; ++p) {
      parts[p] = nearest_half(rest);
      factors[p] = factor;
      rest = (rest - parts[p]) * 0x1p11f;
      factor *= 0x1p-11f;
    }
  }
};

/// Entries k = 0, 1, ... of a body's rows and columns in the two products, two FP16 numbers per word.
struct Entries {
  std::uint32_t large_row[4], large_column[4], small_row[8], small_column[8];
};

/// Returns a body's entries. r^2 + eps^2 is the sum of two products of a row of body i and a column of body j. The
/// large product, |hi_i - hi_j|^2, is exact for near bodies: all its terms are multiples of 2^-24 times the largest.
/// The small product has the other terms. A square is split into FP16 parts; the other matrix has a power of two for
/// each part.
__device__ Entries entries_of(const float (&hi)[3], const float (&lo)[3], float softening_sq) {
  float large = 0, small = 0;  // |hi|^2 and |hi + lo|^2 - |hi|^2
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    large = fmaf(hi[c], hi[c], large);
    small = fmaf(2 * hi[c], lo[c], fmaf(lo[c], lo[c], small));
  }
  const Split<2> square{large, 0x1p15f}, rest{small, 0x1p8f};
  const Split<3> own{small + softening_sq, 0x1p15f};
  const float* one = own.factors;
  return {
      .large_row = {pair_of(-2 * hi[0], -2 * hi[1]), pair_of(-2 * hi[2], one[0]), pair_of(one[1], square.parts[0]),
                    pair_of(square.parts[1], 0)},
      .large_column = {pair_of(hi[0], hi[1]), pair_of(hi[2], square.parts[0]), pair_of(square.parts[1], one[0]),
                       pair_of(one[1], 0)},
      .small_row = {pair_of(-2 * hi[0], -2 * hi[1]), pair_of(-2 * hi[2], -2 * lo[0]), pair_of(-2 * lo[1], -2 * lo[2]),
                    pair_of(-2 * lo[0], -2 * lo[1]), pair_of(-2 * lo[2], rest.factors[0]),
                    pair_of(rest.factors[1], own.parts[0]), pair_of(own.parts[1], own.parts[2]), 0},
      .small_column = {pair_of(lo[0], lo[1]), pair_of(lo[2], hi[0]), pair_of(hi[1], hi[2]), pair_of(lo[0], lo[1]),
                       pair_of(lo[2], rest.parts[0]), pair_of(rest.parts[1], one[0]), pair_of(one[1], one[2]), 0},
  };
}

__device__ void store_row(std::uint32_t* rows, int i, const Entries& entries, const float (&weights)[4]) {
  const int row = i % TensorOperands::rows_per_block;
  std::uint32_t* to =
      rows + static_cast<std::size_t>(i / TensorOperands::rows_per_block) * TensorOperands::words_per_block;
#pragma unroll
  for (int k = 0; k < 8; ++k) to[RowBlock::small(row, k)] = entries.small_row[k];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[RowBlock::large(row, k)] = entries.large_row[k];
    to[RowBlock::weight(row, k)] = __float_as_uint(weights[k]);
  }
}

__device__ void store_column(std::uint32_t* columns, int j, const Entries& entries, const float (&weights)[4]) {
  const int column = j % TensorOperands::columns_per_tile;
  std::uint32_t* to =
      columns + static_cast<std::size_t>(j / TensorOperands::columns_per_tile) * TensorOperands::words_per_tile;
#pragma unroll
  for (int k = 0; k < 8; ++k) to[ColumnTile::small(column, k)] = entries.small_column[k];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[ColumnTile::large(column, k)] = entries.large_column[k];
    const float head = tensor::nearest_tf32(weights[k]);
    to[ColumnTile::weight(column, k)] = __float_as_uint(head);
    to[ColumnTile::weight(column, k + 4)] = __float_as_uint(tensor::nearest_tf32(weights[k] - head));
  }
}

__global__ void make_operands(const Vec4* __restrict__ bodies, int count, int padded, float softening, float mass_scale,
                              const Bounds* __restrict__ bounds, TensorOperands operands) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= padded) return;
  const Vec4 scale = scale_of(*bounds, bodies[0], count, softening);
  if (i == 0) *operands.scale = scale;
  float x[3] = {30000, 0, 0}, mass = 0;
  if (i < count) {
    const Vec4 body = bodies[i];
    x[0] = (body.x - scale.x) * scale.w;
    x[1] = (body.y - scale.y) * scale.w;
    x[2] = (body.z - scale.z) * scale.w;
    mass = body.w * mass_scale;
  }
  const float greatest = fmaxf(fmaxf(fabsf(x[0]), fabsf(x[1])), fabsf(x[2]));
  const float step = fmaxf(__int_as_float(__float_as_int(greatest) & 0x7f800000) * 0x1p-9f, 0x1p-24f);
  const float rounder = 0x1.8p23f * step;
  float hi[3], lo[3], rounded[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    hi[c] = __fadd_rn(__fadd_rn(x[c], rounder), -rounder);
    lo[c] = nearest_half(x[c] - hi[c]);
    rounded[c] = hi[c] + lo[c];
  }
  const float softening_scaled = softening * scale.w;
  const Entries entries = entries_of(hi, lo, softening_scaled * softening_scaled);
  const float weights[4] = {mass * rounded[0], mass * rounded[1], mass * rounded[2], mass};
  store_row(operands.rows, i, entries, weights);
  store_column(operands.columns, i, entries, weights);
  operands.bodies[i] = {rounded[0], rounded[1], rounded[2], mass};
}

void TensorWorkspace::prepare(int padded) {
  const auto bodies = static_cast<std::size_t>(padded);
  const std::size_t words_per_body = TensorOperands::words_per_block / TensorOperands::rows_per_block +
                                     TensorOperands::words_per_tile / TensorOperands::columns_per_tile;
  take_scratch(device_, words_, bounds_words + bodies * words_per_body, "cuda-tensor: the operands", "cuda-symmetric");
  take_scratch(device_, vectors_, bodies + 1, "cuda-tensor: the scaled bodies", "cuda-symmetric");
}

TensorOperands TensorWorkspace::make(const ForceArgs& args, int padded) {
  prepare(padded);
  auto* bounds = reinterpret_cast<Bounds*>(words_.data());
  const std::size_t row_words =
      static_cast<std::size_t>(padded / TensorOperands::rows_per_block) * TensorOperands::words_per_block;
  const TensorOperands operands{.rows = words_.data() + bounds_words,
                                .columns = words_.data() + bounds_words + row_words,
                                .bodies = vectors_.data() + 1,
                                .scale = vectors_.data()};
  ORRERY_CUDA_CHECK(cudaMemsetAsync(bounds, 0, sizeof(Bounds), args.stream));
  find_bounds<<<bounding_blocks, operand_block, 0, args.stream>>>(args.bodies, args.count, bounds);
  ORRERY_CUDA_CHECK_LAUNCH(find_bounds);
  make_operands<<<cuda::ceil_div(padded, operand_block), operand_block, 0, args.stream>>>(
      args.bodies, args.count, padded, args.law.softening, 1 / args.masses.greatest, bounds, operands);
  ORRERY_CUDA_CHECK_LAUNCH(make_operands);
  return operands;
}

}  // namespace
}  // namespace orrery

// Inner loop: a warp sums the pairs of 16 rows and the columns in its registers.
namespace orrery::tensor {
namespace {

using cuda::all_lanes;

/// Correction for the truncation of s to TF32's 11 bits: the mean of 1 / (1 - t), where t is the relative loss.
constexpr float untruncated = 1.0003523f;

__device__ inline void add_to(Vec4* sum, const Vec4& part) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<::float4*>(sum), make_float4(part.x, part.y, part.z, part.w));
#else
  atomicAdd(&sum->x, part.x);
  atomicAdd(&sum->y, part.y);
  atomicAdd(&sum->z, part.z);
  atomicAdd(&sum->w, part.w);
#endif
}

/// Returns the sum of s m (x_j - x_i) for x_i = `body`. `sum` holds the sums of s m x_j and, in w, of s m; w is kept.
__device__ inline Vec4 pull_on(const Vec4& body, const Vec4& sum) {
  return {sum.x - body.x * sum.w, sum.y - body.y * sum.w, sum.z - body.z * sum.w, sum.w};
}

/// Adds a fragment with the sums of a row block to `sums`. Its columns are x, y, z, m, then their remainders in TF32.
__device__ inline void add_rows(const TensorOperands& operands, Vec4* sums, int first, const float (&fragment)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  float joined[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) joined[c] = fragment[c] + __shfl_xor_sync(all_lanes, fragment[c], 2);
  const float one = t < 2 ? joined[0] : joined[2], two = t < 2 ? joined[1] : joined[3];
  const float three = __shfl_xor_sync(all_lanes, one, 1), four = __shfl_xor_sync(all_lanes, two, 1);
  if (t % 2 != 0) return;
  const int i = first + g + (t < 2 ? 0 : 8);
  add_to(sums + i,
         pull_on(operands.bodies[i], {one * untruncated, two * untruncated, three * untruncated, four * untruncated}));
}

/// Returns the factor s of a pair of unit masses, from the softened r^2.
template <LawId law>
__device__ float factor_of(float distance_sq, float repulsion) {
  const float inverse = reciprocal_sqrt(distance_sq), inverse_sq = inverse * inverse;
  if constexpr (law == LawId::attract_repel) return inverse * (inverse_sq * (1.0f - repulsion * inverse_sq));
  return inverse * inverse_sq;
}

/// A tile of 8 columns in a warp's registers, and their sums. Lane 4 g + t sums columns 2t and 2t + 1 over rows
/// g and g + 8.
struct Columns {
  std::uint32_t small[2], weights[2], large;
  Vec4 sum[2];

  __device__ void load(const TensorOperands& operands, int tile) {
    const std::uint32_t* from = operands.columns + static_cast<std::size_t>(tile) * TensorOperands::words_per_tile;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const uint4 words = reinterpret_cast<const uint4*>(from)[lane];
    small[0] = words.x;
    small[1] = words.y;
    weights[0] = words.z;
    weights[1] = words.w;
    large = from[ColumnTile::large_begin + lane];
  }
};

__device__ inline void take(Vec4& sum, float factor, const Vec4& weights) {
  sum.x = multiply_add(factor, weights.x, sum.x);
  sum.y = multiply_add(factor, weights.y, sum.y);
  sum.z = multiply_add(factor, weights.z, sum.z);
  sum.w = multiply_add(factor, weights.w, sum.w);
}

/// Evaluates the pairs of 16 rows, whose operands are in shared memory, and the warp's columns. Multiply-adds sum the
/// columns; a tensor product sums the rows in the fragment `row_sums`. If `within`, the rows' bodies are also columns
/// of the block, so the rows get no sums, and pairs of a body with itself are skipped.
template <LawId law, bool within, int tiles>
__device__ __forceinline__ void meet(const std::uint32_t* operands, Columns (&columns)[tiles], float repulsion, int row,
                                     int column, float (&row_sums)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const uint4 four = reinterpret_cast<const uint4*>(operands)[lane];
  const uint2 two = reinterpret_cast<const uint2*>(operands + RowBlock::large_begin)[lane];
  const std::uint32_t small[4] = {four.x, four.y, four.z, four.w}, large[2] = {two.x, two.y};
  const auto* const row_weights = reinterpret_cast<const Vec4*>(operands + RowBlock::weights_begin);
  const Vec4 weights[2] = {row_weights[g], row_weights[g + 8]};
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile) {
    Columns& mine = columns[tile];
    float s[4];
    multiply_k8(s, large, mine.large);
    add_product_k16(s, small, mine.small);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      s[c] = factor_of<law>(s[c], repulsion);
      if (within && row + g + c / 2 * 8 == column + tile * 8 + 2 * t + c % 2) s[c] = 0;
    }
    if constexpr (!within) add_product_tf32(row_sums, s, mine.weights);
#pragma unroll
    for (int c = 0; c < 4; ++c) take(mine.sum[c % 2], s[c], weights[c / 2]);
  }
}

/// Adds the sums of the warp's columns to `sums`, then resets them.
template <int tiles>
__device__ void put_columns(const TensorOperands& operands, Vec4* sums, int column, Columns (&columns)[tiles]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      Vec4& sum = columns[tile].sum[side];
#pragma unroll
      for (int other = 4; other < 32; other *= 2) {
        sum.x += __shfl_xor_sync(all_lanes, sum.x, other);
        sum.y += __shfl_xor_sync(all_lanes, sum.y, other);
        sum.z += __shfl_xor_sync(all_lanes, sum.z, other);
        sum.w += __shfl_xor_sync(all_lanes, sum.w, other);
      }
      const int j = column + tile * 8 + 2 * t + side;
      if (g == tile) add_to(sums + j, pull_on(operands.bodies[j], sum));
      sum = {};
    }
  }
}

}  // namespace
}  // namespace orrery::tensor

namespace orrery {
namespace {

constexpr int finish_block = 128;
constexpr int again_block = 512;    // threads per block: many per body, because usually few bodies are summed again
constexpr int bodies_together = 4;  // number of bodies that a block sums again together

/// Relative rounding error of a sum over a few tiles, and of a coordinate relative to the body's greatest one.
constexpr float relative_rounding = 0x1p-22f;
constexpr float allowed_error = 1e-4f;

__global__ void finish_bodies(const Vec4* __restrict__ sums, TensorOperands operands, const Vec4* __restrict__ bodies,
                              int count, float greatest_mass, int* again, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 sum = sums[i], body = operands.bodies[i];
  const float rounding = relative_rounding * norm3df(body.x, body.y, body.z) * fabsf(sum.w);
  if (!(rounding <= allowed_error * norm3df(sum.x, sum.y, sum.z))) {
    again[1 + atomicAdd(again, 1)] = i;
    return;
  }
  const float scale = operands.scale->w * operands.scale->w * greatest_mass;
  epilogue.finish(i, bodies[i].w, {sum.x * scale, sum.y * scale, sum.z * scale});
}

template <LawId law>
__global__ void __launch_bounds__(again_block)
    sum_again(const Vec4* __restrict__ bodies, int count, PairConstants constants, const int* __restrict__ again,
              Epilogue epilogue) {
  __shared__ Vec3 parts[again_block / 32][bodies_together];
  const auto pair = pair_law<law, float>(constants);
  const int lane = static_cast<int>(threadIdx.x), bodies_again = again[0];
  for (int first = static_cast<int>(blockIdx.x) * bodies_together; first < bodies_again;
       first += static_cast<int>(gridDim.x) * bodies_together) {
    Vec4 mine[bodies_together];
    Vec3 sum[bodies_together];
#pragma unroll
    for (int k = 0; k < bodies_together; ++k) mine[k] = bodies[again[1 + min(first + k, bodies_again - 1)]];
#pragma unroll 4
    for (int j = lane; j < count; j += again_block) {
      const Vec4 body = bodies[j];
#pragma unroll
      for (int k = 0; k < bodies_together; ++k) add_pull(sum[k], pair, mine[k].x, mine[k].y, mine[k].z, body);
    }
#pragma unroll
    for (int k = 0; k < bodies_together; ++k) {
      constexpr cuda::Warp warp;
      const Vec3 part{sum_over(warp, sum[k].x), sum_over(warp, sum[k].y), sum_over(warp, sum[k].z)};
      if (lane % 32 == 0) parts[lane / 32][k] = part;
    }
    __syncthreads();
    if (lane < bodies_together && first + lane < bodies_again) {
      Vec3 a;
      for (const auto& part : parts) {
        a.x += part[lane].x;
        a.y += part[lane].y;
        a.z += part[lane].z;
      }
      const int i = again[1 + first + lane];
      epilogue.finish(i, bodies[i].w, a);
    }
    __syncthreads();  // all threads must have read `parts` before it is overwritten
  }
}

/// Sums of cuda-tensor. The acceleration of body i is sum(s m_j x_j) - x_i sum(s m_j), so its rounding error grows with
/// |x_i sum(s m_j)|. If this error is too large, finish() sums the body again from differences of coordinates. That
/// happens to bodies far closer to each other than to the mean.
class TensorSums {
 public:
  explicit TensorSums(const cuda::Device& device) : device_{device} {}
  /// Allocates memory for `padded` bodies. Throws UsageError if the GPU's memory is short.
  void prepare(int padded);
  /// Returns the sums and enqueues their zeroing. Entry i: scaled acceleration of body i and, in w, sum(s m_j).
  Vec4* begin(const ForceArgs& args, int padded);
  /// Enqueues the repeated sums of inaccurate bodies, and the epilogue of all.
  void finish(const ForceArgs& args, const TensorOperands& operands);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<Vec4> sums_;
  cuda::DeviceArray<int> again_;  // first the number of bodies to sum again, then their indices
};

void TensorSums::prepare(int padded) {
  take_scratch(device_, sums_, static_cast<std::size_t>(padded), "cuda-tensor: the sums", "cuda-symmetric");
  take_scratch(device_, again_, static_cast<std::size_t>(padded) + 1, "cuda-tensor: the indices of bodies",
               "cuda-symmetric");
}

Vec4* TensorSums::begin(const ForceArgs& args, int padded) {
  prepare(padded);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(sums_.data(), 0, static_cast<std::size_t>(padded) * sizeof(Vec4), args.stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(again_.data(), 0, sizeof(int), args.stream));
  return sums_.data();
}

void TensorSums::finish(const ForceArgs& args, const TensorOperands& operands) {
  finish_bodies<<<cuda::ceil_div(args.count, finish_block), finish_block, 0, args.stream>>>(
      sums_.data(), operands, args.bodies, args.count, args.masses.greatest, again_.data(), args.epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(finish_bodies);
  const int blocks = std::min(cuda::ceil_div(args.count, bodies_together), 4 * device_.multiprocessors());
  law_values.dispatch(args.law.id, [&](auto law) {
    sum_again<decltype(law)::value><<<blocks, again_block, 0, args.stream>>>(
        args.bodies, args.count, PairConstants{args.law}, again_.data(), args.epilogue);
  });
  ORRERY_CUDA_CHECK_LAUNCH(sum_again);
}

constexpr Values<8, 12> warps_values;
constexpr Tunable tunables[] = {
    {.name = "warps",
     .notes = "Warps in a block: 8 with 32 bodies each, or 12 with 64.",
     .values = warps_values.names(),
     .initial = "8"},
};
constexpr const char* candidates[] = {"", "warps=12"};

constexpr int chunks_per_sum = 16;  // chunks between additions of the columns' sums to memory: short sums round less

/// Sizes for a block of `warps` warps. The warps hold the columns of a group of bodies and process one chunk of rows at
/// a time.
template <int warps>
struct Shape {
  static constexpr int tiles = warps == 8 ? 4 : 8;               // tiles of columns per warp
  static constexpr int blocks = warps == 8 ? warps : warps / 2;  // blocks of rows per chunk, limited by shared memory
  static constexpr int resident_blocks = 16 / warps;             // minimum per multiprocessor; limits the registers
  static constexpr int columns = tiles * TensorOperands::columns_per_tile;  // columns per warp
  static constexpr int items_per_group = warps * columns / PairItems::tile;
  static constexpr int items_per_chunk = blocks * TensorOperands::rows_per_block / PairItems::tile;
  static constexpr int chunk_words = blocks * TensorOperands::words_per_block;
  static constexpr int parts = warps * blocks * 32;  // fragments of row sums per chunk
  static constexpr std::size_t shared_bytes = 2 * (chunk_words * sizeof(std::uint32_t) + parts * sizeof(Vec4));
  static_assert(items_per_group % items_per_chunk == 0 &&
                items_per_chunk * PairItems::tile % TensorOperands::rows_per_block == 0);
};

/// Iterator over a block's chunks of rows.
template <int warps>
struct ChunkWalk {
  PairItems items;
  int group, offset;  ///< group and offset of the chunk's first item

  /// Moves to the next chunk without the divisions of PairItems::unit().
  __device__ __forceinline__ void advance() {
    offset += Shape<warps>::items_per_chunk;
    if (offset < (group < items.long_groups ? items.long_row : items.short_row)) return;
    ++group;
    offset = 0;
  }
  __device__ __forceinline__ int first_row() const { return items.partner(group, offset) * PairItems::tile; }
  /// Returns whether the chunk's rows are bodies of the group itself.
  __device__ __forceinline__ bool within() const { return offset < items.tiles_per_group; }
};

/// Pipeline of three stages per chunk: stage() copies its rows to shared memory, meet() sums its pairs, and drain()
/// adds up the warps' row sums. The stages work on different chunks concurrently, so rows and sums in shared memory are
/// double-buffered.
template <LawId law, int warps>
class ChunkPipeline {
 public:
  using Blocks = Shape<warps>;

  __device__ __forceinline__ ChunkPipeline(const TensorOperands& operands, float repulsion, Vec4* sums, Vec4* shared)
      : operands_{operands},
        repulsion_{repulsion},
        sums_{sums},
        rows_{reinterpret_cast<std::uint32_t*>(shared)},
        parts_{shared + 2 * Blocks::chunk_words / 4},
        lane_{static_cast<int>(threadIdx.x) % 32},
        warp_{static_cast<int>(threadIdx.x) / 32} {}

  /// Starts the asynchronous copy of the rows from `row` on; tensor::wait_for_copies() waits for it.
  __device__ __forceinline__ void stage(int chunk, int row) const {
    const std::uint32_t* from = operands_.rows + static_cast<std::size_t>(row / TensorOperands::rows_per_block) *
                                                     TensorOperands::words_per_block;
    std::uint32_t* to = rows_ + chunk % 2 * Blocks::chunk_words;
    for (int word = static_cast<int>(threadIdx.x) * 4; word < Blocks::chunk_words; word += warps * 32 * 4) {
      tensor::copy_in_background(to + word, from + word);
    }
  }

  /// Sums the pairs of the staged rows and this warp's columns. If the rows are `within` the columns' group, they get
  /// no sums, because their bodies are also columns.
  __device__ __forceinline__ void meet(int chunk, int row, bool within, int column,
                                       tensor::Columns (&columns)[Blocks::tiles]) const {
    const std::uint32_t* rows = rows_ + chunk % 2 * Blocks::chunk_words;
    if (within) {
#pragma unroll 1
      for (int block = 0; block < Blocks::blocks; ++block) {
        float none[4];
        tensor::meet<law, true>(rows + block * TensorOperands::words_per_block, columns, repulsion_,
                                row + block * TensorOperands::rows_per_block, column, none);
      }
    } else {
      Vec4* const to = parts_ + chunk % 2 * Blocks::parts + warp_ * Blocks::blocks * 32 + lane_;
#pragma unroll 1
      for (int block = 0; block < Blocks::blocks; ++block) {
        float sum[4] = {};
        tensor::meet<law, false>(rows + block * TensorOperands::words_per_block, columns, repulsion_, 0, 0, sum);
        to[block * 32] = {sum[0], sum[1], sum[2], sum[3]};
      }
    }
  }

  /// Adds up the chunk's row sums over all warps and adds them to memory. Each warp takes one block of rows. If there
  /// are half as many blocks as warps, the two halves of the warps alternate from chunk to chunk.
  __device__ __forceinline__ void drain(int chunk, int row) const {
    const int block = (warp_ + chunk % 2 * (warps - Blocks::blocks)) % warps;
    if (block >= Blocks::blocks) return;
    const Vec4* from = parts_ + chunk % 2 * Blocks::parts;
    float sum[4] = {};
#pragma unroll
    for (int other = 0; other < warps; ++other) {
      const Vec4 part = from[(other * Blocks::blocks + block) * 32 + lane_];
      sum[0] += part.x;
      sum[1] += part.y;
      sum[2] += part.z;
      sum[3] += part.w;
    }
    tensor::add_rows(operands_, sums_, row + block * TensorOperands::rows_per_block, sum);
  }

 private:
  const TensorOperands& operands_;
  float repulsion_;
  Vec4* sums_;
  std::uint32_t* rows_;  // rows of two chunks
  Vec4* parts_;          // each warp's fragments of the rows' sums, for two chunks
  int lane_, warp_;
};

/// Sums each pair once. A block holds the columns of a group of bodies in registers and reads the rows of their
/// partners from shared memory. Two tensor products give r^2 + eps^2. The factor s of a pair serves both bodies: a
/// third tensor product sums the rows, and multiply-adds sum the columns.
template <LawId law, int warps>
__global__ void __launch_bounds__(warps * 32, Shape<warps>::resident_blocks)
    sum_pairs(TensorOperands operands, PairItems items, float repulsion_unscaled, Vec4* sums) {
  using Blocks = Shape<warps>;
  extern __shared__ Vec4 shared[];
  const ChunkPipeline<law, warps> pipeline{operands, repulsion_unscaled * operands.scale->w * operands.scale->w, sums,
                                           shared};
  const int warp = static_cast<int>(threadIdx.x) / 32;

  const auto chunks = items.units() / Blocks::items_per_chunk;
  const auto begin = static_cast<int>(chunks * blockIdx.x / gridDim.x);
  const auto end = static_cast<int>(chunks * (blockIdx.x + 1) / gridDim.x);
  const PairItems::Unit first = items.unit(static_cast<long long>(begin) * Blocks::items_per_chunk);

  tensor::Columns columns[Blocks::tiles];
  ChunkWalk<warps> at{items, first.group, first.offset};
  int loaded = -1, column = 0, summed = 0;
  int row = at.first_row(), row_to_drain = -1;  // row_to_drain: row of the previous chunk; -1: no row sums
  if (begin < end) pipeline.stage(begin, row);
  for (int chunk = begin; chunk < end; ++chunk) {
    ChunkWalk<warps> next = at;
    next.advance();
    const int next_row = next.first_row();
    tensor::wait_for_copies();
    __syncthreads();
    if (chunk + 1 < end) pipeline.stage(chunk + 1, next_row);
    if (row_to_drain >= 0) pipeline.drain(chunk - 1, row_to_drain);
    if (at.group != loaded || summed == chunks_per_sum) {
      if (loaded >= 0) tensor::put_columns(operands, sums, column, columns);
      summed = 0;
    }
    if (at.group != loaded) {
      loaded = at.group;
      column = (at.group * warps + warp) * Blocks::columns;
#pragma unroll
      for (int tile = 0; tile < Blocks::tiles; ++tile) columns[tile].load(operands, column / 8 + tile);
    }
    ++summed;
    const bool within = at.within();
    pipeline.meet(chunk, row, within, column, columns);
    row_to_drain = within ? -1 : row;
    at = next;
    row = next_row;
  }
  __syncthreads();
  if (row_to_drain >= 0) pipeline.drain(end - 1, row_to_drain);
  if (loaded >= 0) tensor::put_columns(operands, sums, column, columns);
}

class Tensor final : public ForceKernel {
 public:
  Tensor(const Settings& settings, const cuda::Device& device)
      : device_{device}, warps_{settings.integer("warps")}, workspace_{device}, sums_{device} {
    const cudaFuncAttributes attributes = cuda::attributes_of(device, handle(LawId::gravity, warps_));
    if (device.info().major < tensor::least_capability) {
      throw UsageError("cuda-tensor needs tensor cores with TF32: compute capability " +
                       std::to_string(tensor::least_capability) + ".0 or higher; this GPU has " +
                       std::to_string(device.info().major) + '.' + std::to_string(device.info().minor) +
                       "; choose cuda-symmetric or cuda-tiled");
    }
    // Code for an older architecture, JIT-compiled for this GPU, contains no tensor products.
    if (attributes.ptxVersion < tensor::least_capability * 10) {
      throw UsageError(
          "cuda-tensor: this build has no code for tensor products on this GPU; build with "
          "CMAKE_CUDA_ARCHITECTURES=native, or choose cuda-symmetric");
    }
    for (const LawInfo& law : laws()) {
      for (const int warps : warps_values.all) {
        ORRERY_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(handle(law.law, warps)),
                                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(shared_bytes(warps))));
      }
    }
  }

  void prepare(int count) override {
    if (items(count).units() > std::numeric_limits<int>::max()) {
      throw UsageError("cuda-tensor cannot take " + std::to_string(count) + " bodies; choose cuda-symmetric");
    }
    workspace_.prepare(padded(count));
    sums_.prepare(padded(count));
  }

  void do_evaluate(const ForceArgs& args) override {
    const int all = padded(args.count);
    Vec4* const sums = sums_.begin(args, all);
    const TensorOperands operands = workspace_.make(args, all);
    const MainLaunch launch = main_launch(args.law, args.count, args.masses);
    instance(args.law.id, warps_)<<<launch.blocks, launch.block, launch.shared_fixed, args.stream>>>(
        operands, items(args.count), args.law.repulsion, sums);
    cuda::check(cudaGetLastError(), "launch of cuda-tensor");
    sums_.finish(args, operands);
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    MainLaunch launch{.function = handle(law.id, warps_), .block = warps_ * 32, .shared_fixed = shared_bytes(warps_)};
    const int resident = cuda::resident_blocks(device_, launch.function, launch.block, launch.shared_fixed);
    launch.blocks = static_cast<int>(
        std::min<long long>(items(count).units(), static_cast<long long>(resident) * device_.multiprocessors()));
    return launch;
  }

 private:
  using Instance = void (*)(TensorOperands, PairItems, float, Vec4*);

  static Instance instance(LawId law, int warps) {
    return law_values.dispatch(law, [&](auto chosen_law) {
      return warps_values.dispatch(warps, [&](auto chosen_warps) -> Instance {
        return sum_pairs<decltype(chosen_law)::value, decltype(chosen_warps)::value>;
      });
    });
  }
  static cudaKernel_t handle(LawId law, int warps) { return cuda::kernel_handle(instance(law, warps)); }
  static std::size_t shared_bytes(int warps) {
    return warps_values.dispatch(warps, [](auto chosen) { return Shape<decltype(chosen)::value>::shared_bytes; });
  }
  PairItems items(int count) const {
    return {count,
            warps_values.dispatch(warps_, [](auto chosen) { return Shape<decltype(chosen)::value>::items_per_group; })};
  }
  int padded(int count) const {
    const PairItems all = items(count);
    return all.groups * all.tiles_per_group * PairItems::tile;
  }

  const cuda::Device& device_;
  int warps_;
  TensorWorkspace workspace_;
  TensorSums sums_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_tensor, .id = "cuda-tensor", .title = "CUDA tensor",
    .notes =
        "Distances and half of the sums as tensor products of split halves and TF32 numbers, each pair once; bodies "
        "whose sums would round too much are summed again from differences.",
    .source = "N. Wilt, N-Body: FP Atomics v. Recomputation; tensor cores are our own answer to it",
    .lesson =
        "A matrix product needs |x|^2 - 2 x y + |y|^2, which cancels for near bodies, unless the numbers are split so "
        "that the large terms are exact. What is left to other units, the reciprocal square roots first, then is the "
        "limit.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-4, .max = 1e-2}, .repeatable = false,
    .pairs_per_interaction = 0.5, .full_fp32 = false, .candidates = candidates, .create = create_kernel<Tensor>);

}  // namespace orrery
