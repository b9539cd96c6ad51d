#pragma once

#include <cstddef>

#include "compute/cuda/error.h"

namespace orrery::cuda {

/// Whether this function's machine code waits where wait_for_kernel_before() says so: code for sm_90 and later does.
bool can_start_early(const void* function);

#if defined(__CUDACC__)
/// Enqueues `function` so that its blocks are set up while those of the kernel before it on the stream still end, where
/// it can start early: launches in a row then cost some 1.5 us less each. It must call wait_for_kernel_before() ahead
/// of its first look at memory.
template <class... Params, class... Arguments>
void launch_early(void (*function)(Params...), int blocks, int block, std::size_t shared_bytes, cudaStream_t stream,
                  const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = static_cast<unsigned>(block);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = can_start_early(reinterpret_cast<const void*>(function)) ? 1 : 0;
  check(cudaLaunchKernelEx(&config, function, Params(arguments)...), "launch of a kernel");
}

/// Until all that the kernel before this one wrote can be seen.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
#endif

}  // namespace orrery::cuda
