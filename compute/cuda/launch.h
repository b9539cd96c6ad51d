#pragma once

#include <cstddef>
#include <string>

#include "compute/core/error.h"
#include "compute/cuda/device.h"

namespace orrery::cuda {

constexpr int ceil_div(int a, int b) {
  return a / b + (a % b != 0);
}

/// Returns the handle of a __global__ function that is compiled into the program. Functions that are loaded at run time
/// have handles of the same type, so that both are launched and described by the same code.
inline cudaKernel_t kernel_handle(const void* function) {
  cudaKernel_t handle = nullptr;
  ORRERY_CUDA_CHECK(cudaGetKernel(&handle, function));
  return handle;
}

template <class... Params>
cudaKernel_t kernel_handle(void (*function)(Params...)) {
  return kernel_handle(reinterpret_cast<const void*>(function));
}

/// Returns the resources that `kernel` uses on `device`. Activates the device.
inline cudaFuncAttributes attributes_of(const Device& device, cudaKernel_t kernel) {
  device.activate();
  cudaFuncAttributes attributes{};
  ORRERY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return attributes;
}

/// Returns the number of blocks that a multiprocessor of `device` can run simultaneously, each with `block` threads and
/// `shared_bytes` of dynamic shared memory. Activates the device.
inline int resident_blocks(const Device& device, cudaKernel_t kernel, int block, std::size_t shared_bytes = 0) {
  device.activate();
  int blocks = 0;
  ORRERY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(kernel), block,
                                                                  shared_bytes));
  return blocks;
}

/// Throws a UsageError if `device` cannot launch `kernel` with `block` threads, because a thread needs too many
/// registers. `what` names the kernel and its settings.
inline void require_block_fits(const Device& device, const std::string& what, cudaKernel_t kernel, int block) {
  const cudaFuncAttributes attributes = attributes_of(device, kernel);
  if (block <= attributes.maxThreadsPerBlock) return;
  throw UsageError(
      what + ": a block of " + std::to_string(block) + " threads with " + std::to_string(attributes.numRegs) +
      " registers each does not fit this GPU; choose block <= " + std::to_string(attributes.maxThreadsPerBlock));
}

/// Enqueues `kernel` on the stream of `config`, whose device must be active. The arguments must have exactly the types
/// of its parameters.
template <class... Params>
void launch(cudaKernel_t kernel, const cudaLaunchConfig_t& config, Params... arguments) {
  void* pointers[] = {&arguments...};
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), "launch of a kernel");
}

/// Returns resident_blocks() of a function that is compiled into the program, without dynamic shared memory. Only the
/// first call asks the runtime and activates the device; asking takes longer than a launch.
int known_resident_blocks(const Device& device, const void* function, int block);

template <class... Params>
int known_resident_blocks(const Device& device, void (*function)(Params...), int block) {
  return known_resident_blocks(device, reinterpret_cast<const void*>(function), block);
}

}  // namespace orrery::cuda
