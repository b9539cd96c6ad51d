#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/core/force_law.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tensor/tensor_operands.h"
#include "compute/kernels/tensor/tensor_products.h"

// The inner loop of cuda-tensor: a warp sums the pairs of 16 rows with the columns in its registers.
namespace orrery::tensor {

#if defined(__CUDACC__)

using cuda::all_lanes;

/// Corrects truncation to TF32's 11 bits: the mean of 1 / (1 - t), where t is the relative part that it removes.
inline constexpr float untruncated = 1.0003523f;

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

/// Returns sum s m (x_j - x_i), computed from sum s m x_j and sum s m. w stays sum s m.
__device__ inline Vec4 pull_on(const Vec4& body, const Vec4& sum) {
  return {sum.x - body.x * sum.w, sum.y - body.y * sum.w, sum.z - body.z * sum.w, sum.w};
}

/// Adds a fragment of a row block's sums. Its columns are x, y, z, m, then their remainders after TF32.
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

/// s of a pair for unit masses, from the softened r^2.
template <LawId law>
__device__ float factor_of(float distance_sq, float repulsion) {
  const float inverse = reciprocal_sqrt(distance_sq), inverse_sq = inverse * inverse;
  if constexpr (law == LawId::attract_repel) return inverse * (inverse_sq * (1.0f - repulsion * inverse_sq));
  return inverse * inverse_sq;
}

/// 8 columns in a warp's registers, and their sums. Over rows g and g + 8, lane 4 g + t sums columns 2t and 2t + 1.
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

/// Sums the pairs of 16 rows, with operands in shared memory, and the warp's columns: columns by multiply-adds, rows as
/// a fragment in `row_sums`. If `within`, the rows are bodies of the columns' group: each is also a column, so the rows
/// get no sums, and a body does not meet itself.
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

/// Adds the columns' sums over all rows to memory, then resets them.
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

#endif

}  // namespace orrery::tensor
