// Parts of the inner loops of CUDA kernels.
#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)

namespace orrery {

/// Calls body(j) for j = 0 ... count - 1 in order, `unroll` calls per pass of the loop and the rest one by one. `count`
/// must be a multiple of `divisor`. If `unroll` divides `divisor`, there is no code for the rest.
template <int unroll, int divisor = 1, class Body>
__device__ __forceinline__ void unrolled_for(int count, Body body) {
  int j = 0;
#pragma unroll 1
  for (; j <= count - unroll; j += unroll) {
#pragma unroll
    for (int next = 0; next < unroll; ++next) body(j + next);
  }
  if constexpr (divisor % unroll != 0) {
#pragma unroll 1
    for (; j < count; ++j) body(j);
  }
}

// Since Volta, even and odd registers form two banks, which deliver one operand each per clock. A load of 16 bytes
// starts at an even register, so x_j - x_i of two bodies reads one bank twice. Rotating the components of one body in
// shared memory moves them to the other bank: 6 % of the whole sum on an H100 (docs/measurements).
__device__ __forceinline__ Vec4 rotated(const Vec4& body) {
  return {body.y, body.z, body.w, body.x};
}

__device__ __forceinline__ Vec4 rotated_back(const Vec4& words) {
  return {words.w, words.x, words.y, words.z};
}

}  // namespace orrery

#endif
