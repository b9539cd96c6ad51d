// id: cuda-tiled
// title: cuda-tiled
// notes: Blocks stage tiles of bodies in shared memory; threads hold several bodies in registers.
// tunable block = 32 64 128 [256] 512 1024: Threads in a block, and bodies in a tile.
// tunable bodies-per-thread = 1 [2] 4: Bodies that a thread holds in registers.
// tunable unroll = 1 2 4 [8] 16 24 32: Bodies in one pass of the inner loop.
// shared-per-thread: 16

#include <cstddef>

#include "compute/core/law.h"
#include "compute/kernels/parts/body_arrays.h"
#include "compute/kernels/parts/device_float.h"
#include "compute/kernels/parts/inner_loop.h"

constexpr int block_divisor = block;

// The code of compute/kernels/direct/cuda_tiled.cu stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  using Real = DeviceFloat<Rsqrt::fast, true>;
  accelerate_block<law_id, Real, bodies_per_thread, unroll>(
      {.vectors = sources.bodies}, Layout::float4, sources.count, targets.count,
      [&](int place) { return targets.body(place); }, PairConstants{law.law}, nullptr, epilogue);
}
