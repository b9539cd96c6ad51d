#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/cuda/stream.h"
#include "compute/devices/broadcast.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Calls `work` while `device` is active; what it throws names the device.
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

/// What is enqueued on the stream from now on waits for what the event has recorded.
inline void wait_on(cudaStream_t stream, const cuda::OrderEvent& event) {
  ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0));
}

/// Enqueues a copy to memory of any device, or of the host.
template <class T>
void copy_entries(const T* from, T* to, int entries, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(T);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/// What another device than the leader gets: nothing that points to the leader's memory but the targets, whose number
/// alone it reads.
inline ForceArgs args_for(const ForceArgs& args, cudaStream_t stream) {
  return {.count = args.count,
          .targets = args.targets,
          .masses = args.masses,
          .law = args.law,
          .epilogue = {},
          .stream = stream};
}

/// CUDA devices that divide evaluations: all alike, since they get equal parts. The first leads: it has the bodies.
class DeviceTeam {
 public:
  /// Lets them read each other's memory where the machine can; otherwise copies go through host memory. `ordinals` has
  /// at least two. Throws UsageError if a device does not exist, or if they differ. The variable ORRERY_NCCL=1 asks for
  /// copies by NCCL; throws std::runtime_error if these are not possible.
  explicit DeviceTeam(std::span<const int> ordinals);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::shared_ptr<const cuda::Device>& leader() const { return devices_.front(); }
  const cuda::Device& device(std::size_t index) const { return *devices_[index]; }
  /// Whether every device can read the memory of all others.
  bool is_direct() const { return direct_; }
  /// "devices 0,1", and a note if copies between some of them go through host memory, or by NCCL.
  std::string words() const;
  /// One thread uses it at a time.
  Broadcast& broadcast() const { return *broadcast_; }

 private:
  TeamDevices devices_;
  std::unique_ptr<Broadcast> broadcast_;
  bool direct_ = true;
  bool by_nccl_ = false;
};

}  // namespace orrery
