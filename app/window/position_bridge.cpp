// Transfer of the bodies into the buffer that OpenGL draws.
#include "app/window/position_bridge.h"

#include <stdexcept>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "render/gl/gl_objects.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/interop/gl_bodies.h"
#endif

namespace orrery {

void PositionBridge::resize(int count) {
  if (count == count_) return;
  shared_.reset();
  buffer_ = {};  // frees the old memory before allocating
  count_ = 0;
  buffer_ = render::Buffer{2 * static_cast<std::size_t>(count) * sizeof(Vec4)};
  count_ = count;
}

/// Shares the buffer on first use by CUDA. CPU kernels never need that.
DeviceBodies PositionBridge::map(CUstream_st* stream) {
  if (!shared_) shared_.emplace(*device_, buffer_.id(), count_);
  return shared_->map(stream);
}

void PositionBridge::unmap(CUstream_st* stream) {
  shared_->unmap(stream);
}

Interop PositionBridge::mode(Backend backend) const {
  if (backend == Backend::cpu) return Interop::host;
  return sharing_.possible ? Interop::mapped : Interop::staged;
}

std::string PositionBridge::reason(Backend backend) const {
  switch (mode(backend)) {
    case Interop::mapped:
      return {};
    case Interop::staged:
      return sharing_.reason + ". " + sharing_.cure;
    case Interop::host:
      break;
  }
  return sharing_.possible
             ? "A CPU kernel runs: its bodies are copied to the GPU to be drawn. CUDA kernels need no copy."
             : "A CPU kernel runs: its bodies are copied to be drawn.";
}

bool PositionBridge::fetch(Simulation& simulation, const Status& status) {
  if (mode(status.backend) == Interop::mapped) return false;
  const auto count = static_cast<std::size_t>(status.count);
  if (staging_.values().size() != 2 * count) {
    staging_ = {};
    staging_ = StagingArray{device_, 2 * count};
  }
  simulation.copy_drawn(staging_.values().first(count), staging_.values().last(count));
  return true;
}

void PositionBridge::upload() {
  resize(static_cast<int>(staging_.values().size() / 2));
  buffer_.upload(std::as_bytes(staging_.values()));
}

Bodies PositionBridge::read_drawn() const {
  const auto count = static_cast<std::size_t>(count_);
  std::vector<Vec4> both(2 * count);
  buffer_.download(std::as_writable_bytes(std::span{both}));
  const auto middle = both.begin() + count_;
  return {{both.begin(), middle}, {middle, both.end()}};
}

#if ORRERY_HAVE_CUDA

namespace {

/// Maps and unmaps a small buffer. Throws CUDA's error if that fails.
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

#else  // a build without CUDA shares nothing

class GlBodies {};

std::optional<int> device_of_gl_context() {
  return std::nullopt;
}

Sharing try_sharing(const Backends& backends) {
  const BackendStatus& cuda = backends.status(Backend::cuda);
  return {.reason = cuda.reason, .cure = cuda.reason};
}

SharedBuffer::SharedBuffer(const cuda::Device&, unsigned, int) {
  throw std::logic_error("a buffer shared with CUDA in a build without it");
}
SharedBuffer::~SharedBuffer() = default;
DeviceBodies SharedBuffer::map(CUstream_st*) {
  return {};
}
void SharedBuffer::unmap(CUstream_st*) {}

StagingArray::StagingArray(const cuda::Device*, std::size_t size)
    : memory_{new Vec4[size], Free{.pinned = false}}, size_{size} {}
void StagingArray::Free::operator()(Vec4* memory) const noexcept {
  delete[] memory;
}

#endif

}  // namespace orrery
