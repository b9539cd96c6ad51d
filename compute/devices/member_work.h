#pragma once

#include <cuda_runtime_api.h>

#include "compute/cuda/event.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What is enqueued on the stream from now on waits for what the event has recorded.
inline void wait_on(cudaStream_t stream, const cuda::OrderEvent& event) {
  ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0));
}

/// What another device than the leader gets: nothing that points to the leader's memory but the targets, whose number
/// alone it reads.
inline ForceArgs args_for(const ForceArgs& args, cudaStream_t stream) {
  return {.count = args.count,
          .targets = args.targets,
          .masses = args.masses,
          .law = args.law,
          .epilogue = {},
          .stream = stream};
}

}  // namespace orrery
