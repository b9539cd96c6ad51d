#include "compute/interop/gl_bodies.h"

#include <GL/gl.h>
#include <cuda_gl_interop.h>

#include "compute/cuda/device.h"

namespace orrery {

GlBodies::GlBodies(const cuda::Device& device, unsigned buffer, int count) : count_{count} {
  device.activate();
  ORRERY_CUDA_CHECK(cudaGraphicsGLRegisterBuffer(&resource_, buffer, cudaGraphicsRegisterFlagsNone));
}

GlBodies::~GlBodies() {
  ORRERY_CUDA_WARN(cudaGraphicsUnregisterResource(resource_));
}

DeviceBodies GlBodies::map(cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaGraphicsMapResources(1, &resource_, stream));
  void* memory = nullptr;
  std::size_t size_bytes = 0;
  ORRERY_CUDA_CHECK(cudaGraphicsResourceGetMappedPointer(&memory, &size_bytes, resource_));
  auto* const positions = static_cast<Vec4*>(memory);
  return {.positions = positions, .velocities = positions + count_};
}

void GlBodies::unmap(cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaGraphicsUnmapResources(1, &resource_, stream));
}

std::optional<int> gl_device() {
  unsigned count = 0;
  int device = 0;
  const cudaError_t status = cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll);
  if (status != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return std::nullopt;
  }
  return device;
}

}  // namespace orrery
