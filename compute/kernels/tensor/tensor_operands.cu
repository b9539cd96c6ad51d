#include <cuda_fp16.h>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tensor/tensor_operands.h"
#include "compute/kernels/tensor/tensor_products.h"

namespace orrery {
namespace {

/// Bounds of the positions relative to body 0, so that all zeros is a valid start. `least` and `greatest` are floats as
/// cuda::ordered_bits().
struct Bounds {
  float sum[3];
  int least[3], greatest[3];
};
constexpr std::size_t bounds_words = 16;  // keeps the operands behind the bounds aligned
static_assert(sizeof(Bounds) <= bounds_words * sizeof(std::uint32_t));

constexpr int block = 128;
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

/// Returns the mean and, in w, the power of two that scales coordinates and the softening below 2^14.
__device__ Vec4 scale_of(const Bounds& bounds, const Vec4& origin, int count, float softening) {
  float mean[3], most = softening;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    mean[c] = bounds.sum[c] / static_cast<float>(count);
    most = fmaxf(most, fmaxf(mean[c] - cuda::from_ordered_bits(bounds.least[c]),
                             cuda::from_ordered_bits(bounds.greatest[c]) - mean[c]));
  }
  const int exponent = ilogbf(most * 1.00001f);  // the factor covers the rounding of the mean
  return {origin.x + mean[0], origin.y + mean[1], origin.z + mean[2], scalbnf(1.0f, 13 - exponent)};
}

__device__ float nearest_half(float value) {
  return __half2float(__float2half_rn(value));
}

/// The bits of two FP16 numbers, the first in the low half.
__device__ std::uint32_t pair_of(float low, float high) {
  const __half2 halves = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}

/// Splits `value` into FP16 numbers: value = parts[0] factors[0] + parts[1] factors[1] + ... Each factor is 2^-11 of
/// the one before, so that all parts have the same magnitude.
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

/// A body's entries k = 0, 1, ... of the two products, two FP16 numbers per word.
struct Entries {
  std::uint32_t large_row[4], large_column[4], small_row[8], small_column[8];
};

/// r^2 + eps^2 is the sum of two products of a row of body i and a column of body j. The large one, |hi_i - hi_j|^2, is
/// exact for near bodies: all its terms are multiples of 2^-24 times the largest. The small one holds all other terms.
/// Squares are split into FP16 parts; the other side holds a power of two for each part.
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

}  // namespace

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
  find_bounds<<<bounding_blocks, block, 0, args.stream>>>(args.bodies, args.count, bounds);
  ORRERY_CUDA_CHECK_LAUNCH(find_bounds);
  make_operands<<<cuda::ceil_div(padded, block), block, 0, args.stream>>>(
      args.bodies, args.count, padded, args.law.softening, 1 / args.masses.greatest, bounds, operands);
  ORRERY_CUDA_CHECK_LAUNCH(make_operands);
  return operands;
}

}  // namespace orrery
