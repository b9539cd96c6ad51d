#pragma once

#include "compute/core/law.h"
#include "compute/kernels/parts/device_float.h"

#if defined(__CUDACC__)
namespace orrery {

// A new kernel can start from here (orrery new-kernel):
/// Returns the pull of all `count` bodies on the body `me`, by tiles in shared memory. A barrier counts the bodies of
/// each tile, so `count` need not be a multiple of the block (docs/literature.md, row 4). Every thread of the block
/// must call it, with or without a body; `tile` has room for one body per thread.
template <class Real, class PairLaw>
__device__ __forceinline__ Vec3 pull_of_counted_tiles(const Vec4* __restrict__ bodies, int count, const PairLaw& pair,
                                                      const Vec4& me, Vec4* tile) {
  Vec3Of<Real> sum;
  for (int j = static_cast<int>(threadIdx.x); true; j += static_cast<int>(blockDim.x)) {
    if (j < count) tile[threadIdx.x] = bodies[j];
    const int filled = __syncthreads_count(j < count);
    // `filled` is the same in all threads of the block. For most settings, the compiler unrolls by 4 on its own.
    if (filled == 0) break;
#pragma unroll 4
    for (int k = 0; k < filled; ++k) {
      add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z}, tile[k]);
    }
    __syncthreads();  // all threads have read the tile; the source (docs/literature.md, row 4) has no such barrier
  }
  return values(sum);
}
// to here.

}  // namespace orrery
#endif
