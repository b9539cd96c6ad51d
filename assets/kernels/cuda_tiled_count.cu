// id: cuda-tiled-count
// title: cuda-tiled-count
// notes: The barrier that completes a shared-memory tile counts its bodies.
// tunable block = 32 64 128 [256] 512 1024: Threads in a block, and bodies in a full tile.
// shared-per-thread: 16

#include "compute/core/law.h"
#include "compute/kernels/parts/device_float.h"

// The code of compute/kernels/parts/inner_loop.h stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  using Real = DeviceFloat<Rsqrt::fast, true>;
  extern __shared__ Vec4 tile[];
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = place < targets.count ? targets.body(place) : 0;  // no early return: every thread meets the barriers
  const Vec4 me = sources.bodies[i];
  const Vec3 acceleration = pull_of_counted_tiles<Real>(sources.bodies, sources.count, law.in<Real>(), me, tile);
  if (place < targets.count) epilogue.finish(i, me.w, acceleration);
}
