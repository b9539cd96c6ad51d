// id: cuda-fp64
// title: cuda-fp64
// notes: A tiled kernel in double precision.
// tunable block = 32 64 128 [256] 512 1024: Threads in a block, and bodies in a tile.
// tolerance: 1e-7 1e-6
// shared-per-thread: 32

#include "compute/core/law.h"

// The code of compute/kernels/direct/cuda_fp64.cu stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = place < targets.count ? targets.body(place) : 0;  // no early return: every thread meets the barriers
  const Body me = body_at(sources.bodies, nullptr, i);            // without low words
  Vec3d acceleration;
  add_all_pulls(acceleration, law.in<double>(), me, sources.bodies, nullptr, sources.count);
  if (place < targets.count) epilogue.finish(i, sources.bodies[i].w, acceleration);
}
