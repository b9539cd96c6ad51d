#pragma once

#if defined(__CUDACC__)
#include <cub/block/block_reduce.cuh>

#include "compute/cuda/warp.h"

// Reductions over a block of threads.
namespace orrery::cuda {

/// Returns the sum of the values of all threads of a block, in thread 0 alone. The order of the sum is the same every
/// time. `Value` has +=. Every thread must call it.
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

/// Joins the boxes of a block's threads. The first warp gets the result. Unlike CUB, it takes a block size known only
/// at run time, up to 32 whole warps. Every thread must call it. A barrier must precede the next call.
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
