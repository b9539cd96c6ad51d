#pragma once

#include <optional>

#include "compute/core/bodies.h"
#include "compute/cuda/device.h"

struct cudaGraphicsResource;

namespace orrery {

/// A GL buffer that CUDA kernels read and write in place: `count` positions, then `count` velocities. A single buffer,
/// because each mapped buffer costs several us per frame. The GL buffer must outlive this object, which does not own
/// it. The GL context must be current on the calling thread in every call.
class GlBodies {
 public:
  /// Registers the buffer of 2 x count x 16 bytes for `device`, which must be active in every later call. Throws
  /// cuda::Error if CUDA and GL cannot share the buffer.
  GlBodies(const cuda::Device& device, unsigned buffer, int count);
  GlBodies(const GlBodies&) = delete;
  GlBodies& operator=(const GlBodies&) = delete;
  ~GlBodies();

  /// Maps the buffer for CUDA. GL must not access it until unmap().
  DeviceBodies map(CUstream_st* stream);
  void unmap(CUstream_st* stream);

 private:
  cudaGraphicsResource* resource_ = nullptr;
  int count_;
};

/// Returns the ordinal of the CUDA device that owns the current GL context; none if no CUDA device does (a software
/// renderer, another vendor's GPU).
std::optional<int> gl_device();

}  // namespace orrery
