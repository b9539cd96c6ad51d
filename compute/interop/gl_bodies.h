#pragma once

#include <optional>

#include "compute/core/bodies.h"
#include "compute/cuda/device.h"

struct cudaGraphicsResource;

namespace orrery {

/// A GL buffer that CUDA kernels read and write in place: `count` positions, then `count` velocities. It is one buffer,
/// because each mapped buffer costs several us per frame. Does not own the GL name: destroy this before the buffer. The
/// GL context must be current on the calling thread in every call.
class GlBodies {
 public:
  /// Registers the buffer, of 2 x count x 16 bytes, for `device`, which must be active in every later call. Throws
  /// cuda::Error if CUDA and GL cannot share it.
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

/// The ordinal of the CUDA device that owns the current GL context. None if no CUDA device owns it (a software
/// renderer, another vendor's GPU).
std::optional<int> gl_device();

}  // namespace orrery
