#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "compute/cuda/device.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

/// A block of a device and its place on the device that gets it. Both begin at multiples of 16 bytes, and so do their
/// ends.
struct BlockCopy {
  DeviceBlock from, to;
};

/// Enqueues a kernel of `device`, which must be active, that reads blocks of other devices; it can read their memory.
/// The driver's copies to several devices ran one after another on four H200 (docs/measurements/scaling.md).
void read_blocks(const cuda::Device& device, std::span<const BlockCopy> copies, cudaStream_t stream);

}  // namespace orrery
