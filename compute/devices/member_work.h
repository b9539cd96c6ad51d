#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "compute/cuda/stream.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What is enqueued on the stream from now on waits for what the event has recorded.
inline void wait_on(cudaStream_t stream, const cuda::OrderEvent& event) {
  ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0));
}

/// Enqueues a copy to memory of any device, or of the host.
template <class T>
void copy_entries(const T* from, T* to, int entries, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(T);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
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
