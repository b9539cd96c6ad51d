#pragma once

#include <array>
#include <string>

#include "compute/sim/device_storage.h"

struct cudaGraphicsResource;

namespace orrery {

/// Two GL buffers, of positions and of velocities, that CUDA kernels read and write in place. Does not own the GL
/// names: destroy this before the buffers. Needs the GL context current on the calling thread, here and in every call.
class GlBodies {
 public:
  /// Registers both buffers, each of at least count x 16 bytes. Throws cuda::Error where CUDA and GL cannot share them.
  GlBodies(unsigned positions_buffer, unsigned velocities_buffer);
  GlBodies(const GlBodies&) = delete;
  GlBodies& operator=(const GlBodies&) = delete;
  ~GlBodies();

  /// Until unmap(), the buffers belong to CUDA and GL may not touch them. Both are mapped in one call.
  DeviceBodies map(CUstream_st* stream);
  void unmap(CUstream_st* stream);

 private:
  std::array<cudaGraphicsResource*, 2> resources_{};
};

/// Makes the CUDA device that owns the current GL context this thread's device, and returns its index; -1 where no CUDA
/// device owns it (a software renderer, another maker's GPU), and the device stays as it was.
int select_gl_device();

}  // namespace orrery
