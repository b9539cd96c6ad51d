#include "compute/interop/gl_bodies.h"

#include <GL/gl.h>
#include <cuda_gl_interop.h>

#include "compute/cuda/error.h"

namespace orrery {

GlBodies::GlBodies(unsigned positions_buffer, unsigned velocities_buffer) {
  ORRERY_CUDA_CHECK(cudaGraphicsGLRegisterBuffer(&resources_[0], positions_buffer, cudaGraphicsRegisterFlagsNone));
  try {
    ORRERY_CUDA_CHECK(cudaGraphicsGLRegisterBuffer(&resources_[1], velocities_buffer, cudaGraphicsRegisterFlagsNone));
  } catch (...) {
    ORRERY_CUDA_WARN(cudaGraphicsUnregisterResource(resources_[0]));
    throw;
  }
}

GlBodies::~GlBodies() {
  for (cudaGraphicsResource* resource : resources_) ORRERY_CUDA_WARN(cudaGraphicsUnregisterResource(resource));
}

DeviceBodies GlBodies::map(cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaGraphicsMapResources(static_cast<int>(resources_.size()), resources_.data(), stream));
  std::array<void*, 2> memory{};
  std::array<std::size_t, 2> bytes{};
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    ORRERY_CUDA_CHECK(cudaGraphicsResourceGetMappedPointer(&memory[i], &bytes[i], resources_[i]));
  }
  return {static_cast<Vec4*>(memory[0]), static_cast<Vec4*>(memory[1])};
}

void GlBodies::unmap(cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaGraphicsUnmapResources(static_cast<int>(resources_.size()), resources_.data(), stream));
}

int select_gl_device() {
  unsigned count = 0;
  int device = -1;
  const cudaError_t status = cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll);
  if (status != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return -1;
  }
  ORRERY_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

}  // namespace orrery
