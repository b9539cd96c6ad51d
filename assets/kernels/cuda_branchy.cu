// id: cuda-branchy
// title: cuda-branchy
// notes: A tile in shared memory, with two branches, a square root and five divisions per pair.
// tunable block = 32 64 128 [256] 512 1024: Threads in a block, and bodies in a tile.
// shared-per-thread: 16

#include "compute/core/law.h"

// The code of compute/kernels/direct/cuda_branchy.cu stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = place < targets.count ? targets.body(place) : 0;  // no early return: every thread meets the barriers
  const Vec4 me = sources.bodies[i];
  const int tiles = (sources.count - 1) / block + 1;
  const float repulsion = law_id == LawId::attract_repel ? law.law.repulsion : 0;
  const Vec3 sum = pull_of_tiles(sources.bodies, sources.count, tiles, i, me, law.softening_sq, repulsion);
  if (place < targets.count) epilogue.finish(i, me.w, sum);
}
