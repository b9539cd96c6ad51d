// id: cuda-naive
// title: cuda-naive
// notes: One thread per body reads every body from global memory.
// tunable block = 32 64 128 [256] 512 1024: Threads in a block, one body each.
// tunable unroll = 1 2 4 8 [16] 24 32: Bodies in one pass of the inner loop.

#include "compute/core/law.h"
#include "compute/kernels/parts/body_arrays.h"
#include "compute/kernels/parts/inner_loop.h"

// The code of compute/kernels/direct/cuda_naive.cu stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= targets.count) return;  // no barrier follows
  const int i = targets.body(place);
  const BodyArrays bodies{.vectors = sources.bodies};
  const Vec4 me = sources.bodies[i];
  Vec3 sum;
  add_all_pulls<unroll, Layout::float4>(sum, law, me, bodies, sources.count);
  epilogue.finish(i, me.w, sum);
}
