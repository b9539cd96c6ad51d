#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/ui_state/status.h"
#include "compute/core/bodies.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"
#include "render/appearance.h"
#include "render/gl/gl_objects.h"

namespace orrery {
class GlBodies;

/// Whether and how CUDA and the current OpenGL context can share data.
struct Sharing {
  bool possible = false;
  std::string reason{}, cure{};    ///< cause and remedy if not possible, one line each; empty if possible
  std::optional<bool> same_gpu{};  ///< whether the chosen CUDA device owns the GL context; none without a CUDA device
};

/// Returns the ordinal of the CUDA device that owns the current GL context; none if no CUDA device does.
std::optional<int> device_of_gl_context();

/// Tries to map a buffer of the current GL context with the device of `backends`.
Sharing try_sharing(const Backends& backends);

/// A GL buffer of positions and velocities that CUDA maps. Hides GlBodies from a build without CUDA, where the
/// constructor throws. Must be destroyed before the buffer.
class SharedBuffer {
 public:
  SharedBuffer(const cuda::Device& device, unsigned buffer, int count);
  ~SharedBuffer();
  DeviceBodies map(CUstream_st* stream);
  void unmap(CUstream_st* stream);

 private:
  std::unique_ptr<GlBodies> bodies_;
};

/// Host memory for copies. Pinned if a device is given, which makes copies from it several times faster.
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

/// Owns the buffer of drawn bodies and fills it with the simulation's bodies. If CUDA and GL can share the buffer, CUDA
/// kernels write it directly (mapped). Otherwise bodies are copied through host memory (staged; host for CPU kernels).
class PositionBridge final : public DeviceStorage {
 public:
  /// `sharing` is the result of try_sharing() for `device`; null: no device. All calls require a current GL context.
  PositionBridge(const Sharing& sharing, const cuda::Device* device) : sharing_{sharing}, device_{device} {}

  /// Returns the storage for the simulation's bodies on the GPU; null if the simulation must allocate its own.
  DeviceStorage* storage() { return sharing_.possible ? this : nullptr; }

  void resize(int count) override;
  DeviceBodies map(CUstream_st* stream) override;
  void unmap(CUstream_st* stream) override;

  Interop mode(Backend backend) const;
  /// Returns why the buffer is not mapped and the remedy; empty if mapped.
  std::string reason(Backend backend) const;

  /// Copies the simulation's bodies to host memory, for upload(). Returns false without copying if mapped. Call only
  /// when the simulation is idle().
  bool fetch(Simulation& simulation, const Status& status);
  /// Copies the fetched bodies into the buffer. May wait until drawing ends.
  void upload();

  /// Returns the drawn bodies.
  render::DrawnBodies drawn() const { return {buffer_.id(), count_}; }
  /// Reads the drawn bodies back. Waits for the GPU; the simulation continues.
  Bodies read_drawn() const;

 private:
  const Sharing sharing_;
  const cuda::Device* device_;
  int count_ = 0;
  render::Buffer buffer_;               // all positions, then all velocities
  std::optional<SharedBuffer> shared_;  // declared after the buffer, so that it is destroyed first
  StagingArray staging_;                // all positions, then all velocities
};

}  // namespace orrery
