// Replaces cuda_sharing.cpp in a build without CUDA.
#include <stdexcept>

#include "app/lab/use_device.h"
#include "app/viewer/cuda_sharing.h"
#include "compute/sim/backends.h"

namespace orrery {

class GlBodies {};

Sharing try_sharing(std::optional<int> device) {
  const BackendStatus& cuda = backend_status(Backend::cuda);
  if (device) use_device(*device);
  return {.reason = cuda.reason, .cure = cuda.reason};
}

SharedBuffer::SharedBuffer(unsigned, int) {
  throw std::logic_error("a buffer shared with CUDA in a build without it");
}
SharedBuffer::~SharedBuffer() = default;
DeviceBodies SharedBuffer::map(CUstream_st*) {
  return {};
}
void SharedBuffer::unmap(CUstream_st*) {}

StagingArray::StagingArray(std::size_t size) : memory_{new Vec4[size], Free{.pinned = false}}, size_{size} {}
void StagingArray::Free::operator()(Vec4* memory) const noexcept {
  delete[] memory;
}

}  // namespace orrery
