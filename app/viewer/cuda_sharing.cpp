#include "app/viewer/cuda_sharing.h"

#include "app/lab/use_device.h"
#include "compute/cuda/device.h"
#include "compute/cuda/error.h"
#include "compute/interop/gl_bodies.h"
#include "compute/sim/backends.h"
#include "render/gl_objects.h"

namespace orrery {
namespace {

/// Throws CUDA's reason against sharing.
void map_a_small_buffer() {
  constexpr int count = 64;
  const render::Buffer buffer{2 * count * sizeof(Vec4)};
  SharedBuffer shared{buffer.id(), count};
  shared.map(nullptr);
  shared.unmap(nullptr);
}

}  // namespace

Sharing try_sharing(std::optional<int> device) {
  const int gl_device = select_gl_device();
  if (device) use_device(*device);
  const BackendStatus& cuda = backend_status(Backend::cuda);
  if (!cuda.available) return {.reason = "no CUDA: " + cuda.reason, .cure = cuda.reason};
  Sharing sharing{.same_gpu = gl_device == cuda::current_device().index};
  try {
    map_a_small_buffer();
    sharing.possible = true;
  } catch (const std::exception& error) {
    if (gl_device < 0) {
      sharing.reason = "no CUDA device draws this window: OpenGL runs on another GPU or in software";
      sharing.cure =
          "open the window on the NVIDIA GPU's display, or start with __NV_PRIME_RENDER_OFFLOAD=1 "
          "__GLX_VENDOR_LIBRARY_NAME=nvidia";
    } else if (!*sharing.same_gpu) {
      sharing.reason = "CUDA runs on another GPU than OpenGL";
      sharing.cure = "leave --device out, or use --device " + std::to_string(gl_device);
    } else {
      sharing.reason = std::string{"CUDA cannot map OpenGL buffers: "} + error.what();
      sharing.cure = "update the NVIDIA driver";
    }
  }
  return sharing;
}

SharedBuffer::SharedBuffer(unsigned buffer, int count) : bodies_{std::make_unique<GlBodies>(buffer, count)} {}
SharedBuffer::~SharedBuffer() = default;
DeviceBodies SharedBuffer::map(CUstream_st* stream) {
  return bodies_->map(stream);
}
void SharedBuffer::unmap(CUstream_st* stream) {
  bodies_->unmap(stream);
}

StagingArray::StagingArray(std::size_t size) : memory_{nullptr, Free{.pinned = false}}, size_{size} {
  if (size > 0 && backend_status(Backend::cuda).available) {
    void* memory = nullptr;
    ORRERY_CUDA_CHECK(cudaMallocHost(&memory, size * sizeof(Vec4)));
    memory_ = {static_cast<Vec4*>(memory), Free{.pinned = true}};
  } else {
    memory_ = {new Vec4[size], Free{.pinned = false}};
  }
}

void StagingArray::Free::operator()(Vec4* memory) const noexcept {
  if (pinned) {
    ORRERY_CUDA_WARN(cudaFreeHost(memory));
  } else {
    delete[] memory;
  }
}

}  // namespace orrery
