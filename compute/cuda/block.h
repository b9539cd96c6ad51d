#pragma once

#if defined(__CUDACC__)
#include <cub/block/block_reduce.cuh>

#include "compute/cuda/warp.h"

// Reductions over a block of threads.
namespace orrery::cuda {

/// Returns the sum of `value` over all threads of a block; only thread 0 gets it. The order of the sum is always the
/// same. `Value` needs +=. All threads must call this.
template <int threads, class Value>
__device__ Value block_sum(const Value& value) {
  using Reduce = cub::BlockReduce<Value, threads>;
  __shared__ typename Reduce::TempStorage storage;
  __syncthreads();  // the previous call no longer uses the storage
  return Reduce{storage}.Reduce(value, [](Value a, const Value& b) {
    a += b;
    return a;
  });
}

/// Joins the boxes of all threads of a block; the first warp gets the result. Unlike CUB, accepts a block size that is
/// known only at run time, up to 32 whole warps. All threads must call this. A barrier must precede the next call.
__device__ inline void join_over_block(Box& box) {
  __shared__ Vec3 low[32], high[32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  box.join(Warp{});
  if (lane == 0) {
    low[warp] = box.low;
    high[warp] = box.high;
  }
  __syncthreads();
  if (warp > 0) return;
  if (lane < static_cast<int>(blockDim.x) / 32) box.add(low[lane], high[lane]);
  box.join(Warp{});
}

}  // namespace orrery::cuda
#endif
