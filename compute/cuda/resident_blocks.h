#pragma once

#include "compute/cuda/device.h"

namespace orrery::cuda {

/// As resident_blocks() in launch.h, of a function that is compiled into the program, without dynamic shared memory.
/// Only the first call asks the runtime, which takes longer than a launch; it activates the device.
int known_resident_blocks(const Device& device, const void* function, int block);
template <class... Params>
int known_resident_blocks(const Device& device, void (*function)(Params...), int block) {
  return known_resident_blocks(device, reinterpret_cast<const void*>(function), block);
}

}  // namespace orrery::cuda
