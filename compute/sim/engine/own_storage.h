#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "compute/cuda/device_array.h"
#include "compute/sim/engine/device_storage.h"

namespace orrery {

/// Device memory of an engine's own, where nothing is drawn.
class OwnStorage final : public DeviceStorage {
 public:
  explicit OwnStorage(const cuda::Device& device) : device_{device} {}
  void resize(int count) override {
    if (positions_.size() == static_cast<std::size_t>(count)) return;
    positions_ = {}, velocities_ = {};  // first the old memory, then the new
    const auto size = static_cast<std::size_t>(count);
    cuda::DeviceArray<Vec4> positions{device_, size}, velocities{device_, size};
    positions_ = std::move(positions);  // both or none
    velocities_ = std::move(velocities);
  }
  DeviceBodies map(cudaStream_t) override { return {.positions = positions_.data(), .velocities = velocities_.data()}; }
  void unmap(cudaStream_t) override {}

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<Vec4> positions_, velocities_;
};

}  // namespace orrery
