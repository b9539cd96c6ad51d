#include "app/viewer/cuda_sharing.h"

#include "compute/core/failure_text.h"
#include "compute/cuda/device.h"
#include "compute/cuda/error.h"
#include "compute/interop/gl_bodies.h"
#include "render/gl/gl_objects.h"

namespace orrery {
namespace {

/// Throws CUDA's reason against sharing.
void map_a_small_buffer(const cuda::Device& device) {
  constexpr int count = 64;
  const render::Buffer buffer{2 * count * sizeof(Vec4)};
  SharedBuffer shared{device, buffer.id(), count};
  shared.map(nullptr);
  shared.unmap(nullptr);
}

}  // namespace

std::optional<int> device_of_gl_context() {
  return gl_device();
}

Sharing try_sharing(const Backends& backends) {
  const BackendStatus& cuda = backends.status(Backend::cuda);
  if (!cuda.available) return {.reason = "no CUDA: " + cuda.reason, .cure = cuda.reason};
  const std::optional<int> owner = gl_device();
  Sharing sharing{.same_gpu = owner == backends.device()->ordinal()};
  try {
    map_a_small_buffer(*backends.device());
    sharing.possible = true;
  } catch (const std::exception& error) {
    if (!owner) {
      sharing.reason = "no CUDA device draws this window: OpenGL runs on another GPU or in software";
      sharing.cure =
          "open the window on the NVIDIA GPU's display, or start with __NV_PRIME_RENDER_OFFLOAD=1 "
          "__GLX_VENDOR_LIBRARY_NAME=nvidia";
    } else if (!*sharing.same_gpu) {
      sharing.reason = "CUDA runs on another GPU than OpenGL";
      sharing.cure = backends.team_words().empty() ? "leave --device out, or use --device " + std::to_string(*owner)
                                                   : "let --devices begin with " + std::to_string(*owner);
    } else {
      sharing.reason = std::string{"CUDA cannot map OpenGL buffers: "} + failure_text(error);
      sharing.cure = "update the NVIDIA driver";
    }
  }
  return sharing;
}

SharedBuffer::SharedBuffer(const cuda::Device& device, unsigned buffer, int count)
    : bodies_{std::make_unique<GlBodies>(device, buffer, count)} {}
SharedBuffer::~SharedBuffer() = default;
DeviceBodies SharedBuffer::map(CUstream_st* stream) {
  return bodies_->map(stream);
}
void SharedBuffer::unmap(CUstream_st* stream) {
  bodies_->unmap(stream);
}

StagingArray::StagingArray(const cuda::Device* device, std::size_t size)
    : memory_{nullptr, Free{.pinned = false}}, size_{size} {
  if (size > 0 && device) {
    device->activate();
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
