#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/sim/engine/device_room.h"
#include "compute/sim/engine/device_storage.h"

namespace orrery {

/// Device memory of an engine's own, where nothing is drawn; or page-locked memory of the host, which devices read and
/// write far more slowly.
class OwnStorage final : public DeviceStorage {
 public:
  explicit OwnStorage(const cuda::Device& device) : device_{device} {}

  /// Whether resize() may take memory of the host if the device has too little. What is there stays there.
  void allow_host_memory(bool allow) { allows_host_memory_ = allow; }
  bool allows_host_memory() const { return allows_host_memory_; }
  bool is_in_host_memory() const { return in_host_.positions.size() > 0; }

  void resize(int count) override {
    const auto size = static_cast<std::size_t>(count);
    if (on_device_.positions.size() + in_host_.positions.size() == size) return;
    on_device_ = {}, in_host_ = {};  // first the old memory, then the new
    if (allows_host_memory_ && !has_room(size)) {
      in_host_ = {{device_, size, /*pinned=*/true}, {device_, size, /*pinned=*/true}};
    } else {
      on_device_ = {{device_, size}, {device_, size}};
    }
  }
  /// Copies the bodies there and waits, if they are in host memory. Throws UsageError if there is too little.
  void bring_to_device(cudaStream_t stream) {
    if (!is_in_host_memory()) return;
    const std::size_t size = in_host_.positions.size();
    if (!has_room(size)) {
      throw UsageError(std::to_string(size) +
                       " bodies need more memory than the GPU has free, unless several GPUs hold them");
    }
    OnDevice there{{device_, size}, {device_, size}};
    cuda::upload<Vec4>(in_host_.positions.all(), there.positions.data(), stream);
    cuda::upload<Vec4>(in_host_.velocities.all(), there.velocities.data(), stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    on_device_ = std::move(there);
    in_host_ = {};
  }

  DeviceBodies map(cudaStream_t) override {
    if (!is_in_host_memory())
      return {.positions = on_device_.positions.data(), .velocities = on_device_.velocities.data()};
    return {.positions = in_host_.positions.all().data(), .velocities = in_host_.velocities.all().data()};
  }
  void unmap(cudaStream_t) override {}

 private:
  struct OnDevice {
    cuda::DeviceArray<Vec4> positions, velocities;
  };
  struct InHost {
    cuda::HostArray<Vec4> positions, velocities;
  };

  bool has_room(std::size_t bodies) const { return device_.free_memory() >= 2 * bodies * sizeof(Vec4) + reserve_bytes; }

  const cuda::Device& device_;
  bool allows_host_memory_ = false;
  OnDevice on_device_;  // one of the two is empty
  InHost in_host_;
};

}  // namespace orrery
