#pragma once

#include <string>

#include "compute/core/error.h"
#include "compute/cuda/error.h"

namespace orrery::cuda {

constexpr int ceil_div(int a, int b) {
  return a / b + (a % b != 0);
}

/// Throws a UsageError where this device cannot launch `function` with `block` threads, because a thread needs too many
/// registers. `what` names the kernel and its settings.
inline void require_block_fits(const std::string& what, const void* function, int block) {
  cudaFuncAttributes attributes{};
  ORRERY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, function));
  if (block <= attributes.maxThreadsPerBlock) return;
  throw UsageError(
      what + ": a block of " + std::to_string(block) + " threads with " + std::to_string(attributes.numRegs) +
      " registers each does not fit this GPU; choose block <= " + std::to_string(attributes.maxThreadsPerBlock));
}

inline int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  ORRERY_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}
/// Of this thread's device.
inline int attribute(cudaDeviceAttr which) {
  int device = 0;
  ORRERY_CUDA_CHECK(cudaGetDevice(&device));
  return attribute(which, device);
}

inline int multiprocessors() {
  return attribute(cudaDevAttrMultiProcessorCount);
}

}  // namespace orrery::cuda
