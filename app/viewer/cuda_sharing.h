#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compute/sim/engine/device_storage.h"

namespace orrery {

class GlBodies;

/// What CUDA and the current OpenGL context can do together.
struct Sharing {
  bool possible = false;
  std::string reason{}, cure{};    ///< why not and what to do about it, one line each; empty when possible
  std::optional<bool> same_gpu{};  ///< whether a CUDA device owns the GL context; none if there is no CUDA device
};

/// Makes the CUDA device that owns the current GL context this thread's device (or `device`, if given)
/// and tries to map a buffer. Call it before anything else uses CUDA. Throws UsageError if `device` does not exist.
Sharing try_sharing(std::optional<int> device);

/// A GL buffer of positions and velocities that CUDA maps. It hides GlBodies from a build without CUDA, where none can
/// be made. Destroy it before the buffer.
class SharedBuffer {
 public:
  SharedBuffer(unsigned buffer, int count);
  ~SharedBuffer();
  DeviceBodies map(CUstream_st* stream);
  void unmap(CUstream_st* stream);

 private:
  std::unique_ptr<GlBodies> bodies_;
};

/// Host memory for copies; pinned in a build with CUDA, which makes copies from the GPU several times faster.
class StagingArray {
 public:
  StagingArray() : StagingArray{0} {}
  explicit StagingArray(std::size_t size);
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
