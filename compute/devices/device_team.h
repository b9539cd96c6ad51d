#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/broadcast.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Calls `work` while `device` is active. Errors name the device.
void on_device(const cuda::Device& device, const std::function<void()>& work);

/// Activates the device at the end of a scope that activates others, also if that ends by an exception.
class ActiveAfterwards {
 public:
  explicit ActiveAfterwards(const cuda::Device& device) : device_{device} {}
  ActiveAfterwards(const ActiveAfterwards&) = delete;
  ActiveAfterwards& operator=(const ActiveAfterwards&) = delete;
  ~ActiveAfterwards() { ORRERY_CUDA_WARN(cudaSetDevice(device_.ordinal())); }

 private:
  const cuda::Device& device_;
};

/// Makes later work on the stream wait for the work that the event has recorded.
inline void wait_on(cudaStream_t stream, const cuda::OrderEvent& event) {
  ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0));
}

/// Enqueues a copy of `entries` values to memory of any device, or of the host.
template <class T>
void copy_entries(const T* from, T* to, int entries, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(T);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/// Returns the arguments for a device other than the leader. They hold no pointers to the leader's memory except the
/// targets, of which the other device reads only the number.
inline ForceArgs args_for(const ForceArgs& args, cudaStream_t stream) {
  return {.count = args.count,
          .targets = args.targets,
          .masses = args.masses,
          .law = args.law,
          .epilogue = {},
          .stream = stream};
}

/// CUDA devices that divide evaluations. All must be alike, since they get equal parts. The first leads: it has the
/// bodies.
class DeviceTeam {
 public:
  /// Enables peer access where the machine supports it; otherwise, copies go through host memory. `ordinals` has at
  /// least two entries. Throws UsageError if a device does not exist or if they differ. ORRERY_NCCL=1 in the
  /// environment requests copies by NCCL; throws std::runtime_error if these are not possible.
  explicit DeviceTeam(std::span<const int> ordinals);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::shared_ptr<const cuda::Device>& leader() const { return devices_.front(); }
  const cuda::Device& device(std::size_t index) const { return *devices_[index]; }
  /// Whether every device can read the memory of all others.
  bool is_direct() const { return direct_; }
  /// Returns "devices 0,1", with a note if some copies go through host memory or by NCCL.
  std::string words() const;
  /// Not thread-safe: one thread at a time.
  Broadcast& broadcast() const { return *broadcast_; }

 private:
  TeamDevices devices_;
  std::unique_ptr<Broadcast> broadcast_;
  bool direct_ = true;
  bool by_nccl_ = false;
};

}  // namespace orrery
