#pragma once

#include "compute/core/vec.h"

namespace orrery {

#if defined(__CUDACC__)

/// The sum of every thread's `value` over the block, in the same order every time; all threads get it. `Value` has +=,
/// `shared` holds an entry a thread, `threads` is the block's size, a power of two. Every thread must call it.
template <int threads, class Value>
__device__ Value block_sum(const Value& value, Value* shared) {
  const int me = static_cast<int>(threadIdx.x);
  __syncthreads();  // the entries of the last call have been read
  shared[me] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) shared[me] += shared[me + half];
  }
  __syncthreads();
  return shared[0];
}

#endif

}  // namespace orrery
