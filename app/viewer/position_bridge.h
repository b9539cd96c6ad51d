#pragma once

#include <optional>
#include <string>

#include "app/ui_state/status.h"
#include "app/viewer/cuda_sharing.h"
#include "compute/sim/engine/device_storage.h"
#include "compute/sim/simulation.h"
#include "render/body_renderer.h"
#include "render/gl_objects.h"

namespace orrery {

/// Owns the buffer that is drawn and sees to it that it holds the simulation's bodies: CUDA kernels write it in
/// place where CUDA and GL can share them (mapped); else copies go through host memory (staged, or host for CPU
/// kernels).
class PositionBridge final : public DeviceStorage {
 public:
  /// `sharing` is what try_sharing() found for `device`; null: there is none. Needs the GL context current, here and in
  /// every call.
  PositionBridge(const Sharing& sharing, const cuda::Device* device) : sharing_{sharing}, device_{device} {}

  /// What the simulation is to keep its bodies in on the GPU; null where it needs memory of its own.
  DeviceStorage* storage() { return sharing_.possible ? this : nullptr; }

  void resize(int count) override;
  DeviceBodies map(CUstream_st* stream) override;
  void unmap(CUstream_st* stream) override;

  Interop mode(Backend backend) const;
  /// Why not mapped and what cures it; empty when mapped.
  std::string reason(Backend backend) const;

  /// Copies the simulation's bodies to host memory, for upload(); does nothing and returns false when mapped. Call it
  /// only when the simulation is idle().
  bool fetch(Simulation& simulation, const Status& status);
  /// Copies what was fetched into the buffer; may wait for what is being drawn.
  void upload();

  /// What to draw from.
  render::DrawnBodies drawn() const { return {buffer_.id(), count_}; }
  /// What is drawn, read back; waits for the GPU. The simulation goes on.
  Bodies read_drawn() const;

 private:
  const Sharing sharing_;
  const cuda::Device* device_;
  int count_ = 0;
  render::Buffer buffer_;               // all positions, then all velocities
  std::optional<SharedBuffer> shared_;  // after the buffer, so that it goes first
  StagingArray staging_;                // positions, then velocities
};

}  // namespace orrery
