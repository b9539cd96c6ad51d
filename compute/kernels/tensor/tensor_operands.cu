#include <cuda_fp16.h>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tensor/tensor_operands.h"
#include "compute/kernels/tensor/tensor_products.h"

namespace orrery {
namespace {

/// Of the positions relative to body 0, so that all zero is a valid start. `least` and `greatest` are ordered() floats.
struct Bounds {
  float sum[3];
  int least[3], greatest[3];
};
constexpr std::size_t bounds_words = 16;  // keeps what follows aligned
static_assert(sizeof(Bounds) <= bounds_words * sizeof(std::uint32_t));

constexpr int block = 128;
constexpr int bounding_blocks = 64;
constexpr unsigned all_lanes = ~0u;

/// An integer that is ordered as the float is; its own inverse on the bits.
__device__ int ordered(float value) {
  const int bits = __float_as_int(value);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ float unordered(int value) {
  return __int_as_float(value >= 0 ? value : value ^ 0x7fffffff);
}

__global__ void find_bounds(const Vec4* __restrict__ bodies, int count, Bounds* bounds) {
  const Vec4 origin = bodies[0];
  float sum[3] = {}, least[3] = {}, greatest[3] = {};
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const Vec4 body = bodies[i];
    const float from_origin[3] = {body.x - origin.x, body.y - origin.y, body.z - origin.z};
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      sum[c] += from_origin[c];
      least[c] = fminf(least[c], from_origin[c]);
      greatest[c] = fmaxf(greatest[c], from_origin[c]);
    }
  }
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    int low = ordered(least[c]), high = ordered(greatest[c]);
#pragma unroll
    for (int other = 16; other > 0; other /= 2) {
      sum[c] += __shfl_xor_sync(all_lanes, sum[c], other);
      low = min(low, __shfl_xor_sync(all_lanes, low, other));
      high = max(high, __shfl_xor_sync(all_lanes, high, other));
    }
    if (threadIdx.x % 32 == 0) {
      atomicAdd(bounds->sum + c, sum[c]);
      atomicMin(bounds->least + c, low);
      atomicMax(bounds->greatest + c, high);
    }
  }
}

/// The mean, and the power of two that brings coordinates and the softening below 2^14.
__device__ Vec4 scale_of(const Bounds& bounds, const Vec4& origin, int count, float softening) {
  float mean[3], most = softening;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    mean[c] = bounds.sum[c] / static_cast<float>(count);
    most = fmaxf(most, fmaxf(mean[c] - unordered(bounds.least[c]), unordered(bounds.greatest[c]) - mean[c]));
  }
  const int exponent = ilogbf(most * 1.00001f);  // the mean's rounding
  return {origin.x + mean[0], origin.y + mean[1], origin.z + mean[2], scalbnf(1.0f, 13 - exponent)};
}

__device__ float nearest_half(float value) {
  return __half2float(__float2half_rn(value));
}

/// The bits of two halves, the first of them low.
__device__ std::uint32_t pair_of(float low, float high) {
  const __half2 halves = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}

/// `value` as parts[0] factor(0) + parts[1] factor(1) + ..., the parts halves. The factors fall by 2^11 from
/// `greatest_factor` on, so that all parts are of one magnitude.
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

/// A body's entries k = 0, 1, ... of the two products, as words of two.
struct Entries {
  std::uint32_t large_row[4], large_column[4], small_row[8], small_column[8];
};

__device__ Entries entries_of(const float (&hi)[3], const float (&lo)[3], float softening_sq) {
  float large = 0, small = 0;  // |hi|^2, and |hi + lo|^2 less that
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
  const int row = i % TensorOperands::rows_a_block, group = row % 8, half = row / 8;
  std::uint32_t* to = rows + static_cast<std::size_t>(i / TensorOperands::rows_a_block) * TensorOperands::words_a_block;
#pragma unroll
  for (int k = 0; k < 8; ++k) to[(group * 4 + k % 4) * 4 + half + k / 4 * 2] = entries.small_row[k];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[128 + (group * 4 + k) * 2 + half] = entries.large_row[k];
    to[192 + row * 4 + k] = __float_as_uint(weights[k]);
  }
}

__device__ void store_column(std::uint32_t* columns, int j, const Entries& entries, const float (&weights)[4]) {
  const int column = j % TensorOperands::columns_a_tile;
  std::uint32_t* to =
      columns + static_cast<std::size_t>(j / TensorOperands::columns_a_tile) * TensorOperands::words_a_tile;
#pragma unroll
  for (int k = 0; k < 8; ++k) to[(column * 4 + k % 4) * 4 + k / 4] = entries.small_column[k];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[128 + column * 4 + k] = entries.large_column[k];
    // The factors come as a product's result, columns 2t and 2t + 1 in lane t: they are k = t and t + 4 here.
    const float head = tensor::nearest_tf32(weights[k]);
    to[(k * 4 + column / 2) * 4 + 2 + column % 2] = __float_as_uint(head);
    to[((k + 4) * 4 + column / 2) * 4 + 2 + column % 2] = __float_as_uint(tensor::nearest_tf32(weights[k] - head));
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
  const std::size_t words_a_body = TensorOperands::words_a_block / TensorOperands::rows_a_block +
                                   TensorOperands::words_a_tile / TensorOperands::columns_a_tile;
  take_scratch(device_, words_, bounds_words + bodies * words_a_body, "cuda-tensor: the operands", "cuda-symmetric");
  take_scratch(device_, vectors_, bodies + 1, "cuda-tensor: the scaled bodies", "cuda-symmetric");
}

TensorOperands TensorWorkspace::make(const ForceArgs& args, int padded) {
  prepare(padded);
  auto* bounds = reinterpret_cast<Bounds*>(words_.data());
  const std::size_t row_words =
      static_cast<std::size_t>(padded / TensorOperands::rows_a_block) * TensorOperands::words_a_block;
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
