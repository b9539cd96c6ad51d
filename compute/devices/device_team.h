// Several CUDA devices of one process: copies between them, and kernels that they evaluate together.
#pragma once

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

using TeamDevices = std::vector<std::shared_ptr<const cuda::Device>>;

/// Activates the device and calls `work`. The device stays active. The messages of errors name the device.
void on_device(const cuda::Device& device, const std::function<void()>& work);

/// A named range of host time for profilers (NVTX), such as the time in which a thread enqueues a phase. Nsight Systems
/// also shows the GPU work that was enqueued in the range.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ~ProfilerRange() { nvtxRangePop(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

/// Guard that activates `device` at the end of a scope in which other devices may become active.
class ActiveAfterwards {
 public:
  explicit ActiveAfterwards(const cuda::Device& device) : device_{device} {}
  ActiveAfterwards(const ActiveAfterwards&) = delete;
  ActiveAfterwards& operator=(const ActiveAfterwards&) = delete;
  ~ActiveAfterwards() { ORRERY_CUDA_WARN(cudaSetDevice(device_.ordinal())); }

 private:
  const cuda::Device& device_;
};

/// Makes later work on the stream wait for the event.
inline void wait_on(cudaStream_t stream, const cuda::OrderEvent& event) {
  ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0));
}

/// Enqueues a copy of `entries` values between any two memories, of devices or of the host.
template <class T>
void copy_entries(const T* from, T* to, int entries, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(T);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/// Enqueues copies between two devices on `stream`: block i of `from` is copied to block i of `to`.
void copy_blocks(std::span<const DeviceBlock> from, const cuda::Device& from_device, std::span<const DeviceBlock> to,
                 const cuda::Device& to_device, cudaStream_t stream);

/// Returns the arguments for a device other than the leader, without pointers to the leader's memory. `targets` keeps
/// its count and its pointer, which is only compared with null.
inline ForceArgs args_for(const ForceArgs& args, cudaStream_t stream) {
  return {.count = args.count,
          .targets = args.targets,
          .masses = args.masses,
          .law = args.law,
          .epilogue = {},
          .stream = stream};
}

/// Transport of data from the first device of a team, the leader, to all others.
class Broadcast {
 public:
  /// The blocks that one device receives (the leader: sends), and the stream that copies them.
  struct End {
    std::vector<DeviceBlock> blocks;
    cudaStream_t stream = nullptr;
  };

  virtual ~Broadcast() = default;
  /// Enqueues the copies: block i of the leader goes to block i of every other device. `ends`: one entry per device.
  /// The other devices' streams must already wait for the leader's blocks. Errors name the device, or all devices if
  /// none can be blamed.
  virtual void send(std::span<const End> ends) = 0;
  virtual std::string name() const = 0;
};

/// Broadcast by cudaMemcpyPeerAsync(): each device fetches its data.
class PeerCopies final : public Broadcast {
 public:
  explicit PeerCopies(const TeamDevices& devices) : devices_{devices} {}
  void send(std::span<const End> ends) override;
  std::string name() const override { return "peer copies"; }

 private:
  const TeamDevices& devices_;
};

/// Several CUDA devices of one process that share evaluations. All must be of one model, since their parts start equal.
/// The first is the leader, which has the bodies.
class DeviceTeam {
 public:
  /// Enables peer access where the machine supports it; otherwise, copies go through host memory. `ordinals` has at
  /// least two entries. Throws UsageError if a device does not exist or the devices differ. If the environment has
  /// ORRERY_NCCL=1, copies go by NCCL; throws std::runtime_error if that is impossible.
  explicit DeviceTeam(std::span<const int> ordinals);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::shared_ptr<const cuda::Device>& leader() const { return devices_.front(); }
  const cuda::Device& device(std::size_t index) const { return *devices_[index]; }
  /// Returns whether every device has peer access to all others.
  bool is_direct() const { return direct_; }
  /// Returns text such as "devices 0,1", with a note if some copies go through host memory, or if broadcasts use NCCL.
  std::string words() const;
  /// Returns the transport from the leader to the others. Not thread-safe: one thread at a time may use it.
  Broadcast& broadcast() const { return *broadcast_; }

 private:
  TeamDevices devices_;
  std::unique_ptr<Broadcast> broadcast_;
  bool direct_ = true;  // see is_direct()
  bool by_nccl_ = false;
};

/// Returns a kernel whose evaluations the devices of a team share. The leader sends the bodies to the others in each
/// evaluation, or each device holds the bodies of its part between steps. The kernel implements OwnersFacet and
/// ResidentFacet. `team` must outlive it. Throws as KernelInfo::make(). Errors of devices other than the first name the
/// device.
std::unique_ptr<ForceKernel> multi_device_kernel(const DeviceTeam& team, const KernelInfo& kernel,
                                                 const Settings& settings);

}  // namespace orrery
