#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)
// Reductions and scans over lanes. Every lane gets the result, unlike with cub::WarpReduce. Kernels that reduce over
// whole blocks use CUB; see block.h.
namespace orrery::cuda {

inline constexpr unsigned all_lanes = ~0u;

/// Team of the 32 lanes of a warp, for reduce(). Smaller teams are cooperative groups' thread_block_tile.
struct Warp {
  static constexpr unsigned num_threads() { return 32; }
  template <class T>
  __device__ __forceinline__ T shfl_xor(T value, unsigned apart) const {
    return __shfl_xor_sync(all_lanes, value, static_cast<int>(apart));
  }
};

/// Reduces the values of a team's lanes with combine(): first over distant lanes, last over neighbours. All lanes of
/// the team must call it.
template <class Team, class T, class Combine>
__device__ __forceinline__ T reduce(const Team& team, T value, const Combine& combine) {
#pragma unroll
  for (unsigned apart = Team::num_threads() / 2; apart > 0; apart /= 2) {
    value = combine(value, team.shfl_xor(value, apart));
  }
  return value;
}
template <class Team, class T>
__device__ __forceinline__ T sum_over(const Team& team, T value) {
  return reduce(team, value, [](T a, T b) { return a + b; });
}
template <class Team>
__device__ __forceinline__ float least_over(const Team& team, float value) {
  return reduce(team, value, [](float a, float b) { return fminf(a, b); });
}
template <class Team>
__device__ __forceinline__ float greatest_over(const Team& team, float value) {
  return reduce(team, value, [](float a, float b) { return fmaxf(a, b); });
}

__device__ __forceinline__ unsigned or_over_warp(unsigned bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, bits);
#else
  return reduce(Warp{}, bits, [](unsigned a, unsigned b) { return a | b; });
#endif
}

/// Returns the inclusive prefix sum over a warp: the sum of the values of lanes 0 to `lane`, the calling lane.
__device__ __forceinline__ int sum_up_to(int value, int lane) {
  for (int apart = 1; apart < 32; apart *= 2) {
    const int before = __shfl_up_sync(all_lanes, value, apart);
    if (lane >= apart) value += before;
  }
  return value;
}

/// Converts a float to an integer with the same order, for atomicMin and atomicMax. 0.0f gives 0; NaN lies beyond the
/// infinities.
__device__ __forceinline__ int ordered_bits(float value) {
  const int bits = __float_as_int(value);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ __forceinline__ float from_ordered_bits(int bits) {
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
}

/// Axis-parallel box around points; initially empty.
struct Box {
  Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};

  __device__ __forceinline__ void add(const Vec3& lowest, const Vec3& highest) {
    low = {fminf(low.x, lowest.x), fminf(low.y, lowest.y), fminf(low.z, lowest.z)};
    high = {fmaxf(high.x, highest.x), fmaxf(high.y, highest.y), fmaxf(high.z, highest.z)};
  }
  /// Joins the boxes of a team's lanes. All lanes of the team must call it and get the result.
  template <class Team>
  __device__ __forceinline__ void join(const Team& team) {
#pragma unroll
    for (unsigned apart = Team::num_threads() / 2; apart > 0; apart /= 2) {
      const auto other = [&](float value) { return team.shfl_xor(value, apart); };
      low = {fminf(low.x, other(low.x)), fminf(low.y, other(low.y)), fminf(low.z, other(low.z))};
      high = {fmaxf(high.x, other(high.x)), fmaxf(high.y, other(high.y)), fmaxf(high.z, other(high.z))};
    }
  }
};

}  // namespace orrery::cuda
#endif
