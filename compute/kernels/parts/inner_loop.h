// Parts of the inner loops of CUDA kernels.
#pragma once

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/kernels/parts/device_float.h"

#if defined(__CUDACC__)

namespace orrery {

/// Calls body(j) for j = 0 ... count - 1 in order: `unroll` calls per iteration, then the rest one by one. `count` must
/// be a multiple of `divisor`. If `unroll` divides `divisor`, no code for the rest is compiled.
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

// Since Volta, even and odd registers form two banks, and each bank delivers one operand per clock. A 16-byte load
// starts at an even register, so x_j - x_i of two bodies reads one bank twice. Rotating one body's components in shared
// memory moves them to the other bank. On an H100, this saves 6 % of the sum's time (docs/measurements).
__device__ __forceinline__ Vec4 rotated(const Vec4& body) {
  return {body.y, body.z, body.w, body.x};
}

__device__ __forceinline__ Vec4 rotated_back(const Vec4& words) {
  return {words.w, words.x, words.y, words.z};
}

// A new kernel can start from here (orrery new-kernel):
/// Returns the pull of all `count` bodies on `me`, by tiles in shared memory. A barrier counts the bodies of each tile,
/// so `count` need not be a multiple of the block (docs/literature.md, row 4). Every thread of the block must call
/// this, even without a body; `tile` has room for one body per thread.
template <class Real, class PairLaw>
__device__ __forceinline__ Vec3 pull_of_counted_tiles(const Vec4* __restrict__ bodies, int count, const PairLaw& pair,
                                                      const Vec4& me, Vec4* tile) {
  Vec3Of<Real> sum;
  for (int j = static_cast<int>(threadIdx.x); true; j += static_cast<int>(blockDim.x)) {
    if (j < count) tile[threadIdx.x] = bodies[j];
    const int filled = __syncthreads_count(j < count);
    // `filled` is the same in all threads of the block. With most settings, the compiler would unroll by 4 anyway.
    if (filled == 0) break;
#pragma unroll 4
    for (int k = 0; k < filled; ++k) {
      add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z}, tile[k]);
    }
    __syncthreads();  // all threads have read the tile; the original (docs/literature.md, row 4) lacks this
  }
  return values(sum);
}
// to here.

}  // namespace orrery

#endif
