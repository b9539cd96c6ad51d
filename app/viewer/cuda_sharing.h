#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compute/sim/backends.h"
#include "compute/sim/engine/device_storage.h"

namespace orrery {

class GlBodies;

/// What CUDA and the current OpenGL context can do together.
struct Sharing {
  bool possible = false;
  std::string reason{}, cure{};    ///< why not and what to do about it, one line each; empty when possible
  std::optional<bool> same_gpu{};  ///< whether a CUDA device owns the GL context; none if there is no CUDA device
};

/// The ordinal of the CUDA device that owns the current GL context; none if there is no such device, or no CUDA.
std::optional<int> device_of_gl_context();

/// Tries to map a buffer of the current GL context with the device of `backends`.
Sharing try_sharing(const Backends& backends);

/// A GL buffer of positions and velocities that CUDA maps. It hides GlBodies from a build without CUDA, where none can
/// be made. Destroy it before the buffer.
class SharedBuffer {
 public:
  SharedBuffer(const cuda::Device& device, unsigned buffer, int count);
  ~SharedBuffer();
  DeviceBodies map(CUstream_st* stream);
  void unmap(CUstream_st* stream);

 private:
  std::unique_ptr<GlBodies> bodies_;
};

/// Host memory for copies; pinned if a device is given, which makes copies from it several times faster.
class StagingArray {
 public:
  StagingArray() : StagingArray{nullptr, 0} {}
  StagingArray(const cuda::Device* device, std::size_t size);
  std::span<Vec4> values() const noexcept { return {memory_.get(), size_}; }

 private:
  struct Free {
    bool pinned;
    void operator()(Vec4* memory) const noexcept;
  };
  std::unique_ptr<Vec4, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace orrery
