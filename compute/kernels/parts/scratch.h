#pragma once

#include <cstddef>
#include <string>

#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"

namespace orrery {

/// Makes a kernel's scratch memory on `device` hold at least `size` objects; its contents may be lost. Throws
/// UsageError if the GPU has less memory free. The text names the memory (`what`, a plural) and an alternative that
/// needs less (`instead`).
template <class T>
void take_scratch(const cuda::Device& device, cuda::DeviceArray<T>& array, std::size_t size, const std::string& what,
                  const std::string& instead) {
  if (array.size() >= size) return;
  array = {};  // free the old memory before taking the new
  if (const std::size_t bytes = size * sizeof(T); bytes > device.free_memory()) {
    throw UsageError(what + " need " + std::to_string(bytes >> 20) + " MiB, more than the GPU has free; choose " +
                     instead);
  }
  array = cuda::DeviceArray<T>(device, size);
}

}  // namespace orrery
