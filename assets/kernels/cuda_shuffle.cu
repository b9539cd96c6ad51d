// id: cuda-shuffle
// title: cuda-shuffle
// notes: Each lane of a warp loads one body, and shuffles broadcast the 32 of them in turn.
// tunable block = 32 64 [128] 256 512 1024: Threads in a block.
// tunable bodies-per-thread = [1] 2 4: Bodies that a thread holds in registers.

#include "compute/core/law.h"
#include "compute/cuda/warp.h"

// The code of compute/kernels/direct/cuda_shuffle.cu stands here.

__global__ void __launch_bounds__(block) accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  accelerate_block<bodies_per_thread>(
      sources.bodies, sources.count, targets.count, [&](int place) { return targets.body(place); }, law, epilogue);
}
