// Replaces cuda_sharing.cpp in a build without CUDA.
#include <stdexcept>

#include "app/viewer/cuda_sharing.h"

namespace orrery {

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

}  // namespace orrery
