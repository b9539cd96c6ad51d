// Several CUDA devices of one process: what they copy, and kernels that they evaluate together.
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

/// Activates the device and calls `work`. Errors name the device. The device stays active.
void on_device(const cuda::Device& device, const std::function<void()>& work);

/// A named range of this thread's time for profilers (NVTX), such as the time in which it enqueues the work of a phase.
/// Nsight Systems shows it, and on the GPU's own time line the work that was enqueued during this time.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ~ProfilerRange() { nvtxRangePop(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

/// Guard that activates the device at the end of a scope in which others become active.
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

/// Enqueues a copy of `entries` values, from and to memory of any device or of the host.
template <class T>
void copy_entries(const T* from, T* to, int entries, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(entries) * sizeof(T);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/// Enqueues copies from one device to another, entry for entry, on `stream`.
void copy_blocks(std::span<const DeviceBlock> from, const cuda::Device& from_device, std::span<const DeviceBlock> to,
                 const cuda::Device& to_device, cudaStream_t stream);

/// Returns the arguments for a device other than the leader: without pointers to the leader's memory. `targets` keeps
/// its pointer, of which only null or not is read, and its count.
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
  /// One device's blocks, which it receives (the leader: sends), and the stream of the copies.
  struct End {
    std::vector<DeviceBlock> blocks;
    cudaStream_t stream = nullptr;
  };

  virtual ~Broadcast() = default;
  /// Enqueues the copies, entry for entry. `ends`: by device. The streams of the other devices must already wait for
  /// the leader's blocks. Errors name the device, or all devices if none in particular has failed.
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

/// Several CUDA devices of one process that share evaluations. All must be of one model, since they get equal parts.
/// The first is the leader: it owns the bodies.
class DeviceTeam {
 public:
  /// Enables peer access where the machine supports it; elsewhere, copies go through host memory. `ordinals` has at
  /// least two entries. Throws UsageError if a device does not exist or if they differ. ORRERY_NCCL=1 in the
  /// environment requests copies by NCCL; throws std::runtime_error if these are not possible.
  explicit DeviceTeam(std::span<const int> ordinals);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::shared_ptr<const cuda::Device>& leader() const { return devices_.front(); }
  const cuda::Device& device(std::size_t index) const { return *devices_[index]; }
  /// Returns whether every device has peer access to all others.
  bool is_direct() const { return direct_; }
  /// Returns "devices 0,1", with a note if some copies go through host memory, or if broadcasts go by NCCL.
  std::string words() const;
  /// Not thread-safe: one thread at a time.
  Broadcast& broadcast() const { return *broadcast_; }

 private:
  TeamDevices devices_;
  std::unique_ptr<Broadcast> broadcast_;
  bool direct_ = true;  // see is_direct()
  bool by_nccl_ = false;
};

/// Returns a kernel whose evaluations the devices of a team share. The first device owns the bodies and the others get
/// copies for each evaluation, or the bodies are resident: each device holds those of its part from step to step. The
/// kernel implements OwnersFacet and ResidentFacet. `team` must outlive it. Throws as KernelInfo::make(); errors of
/// devices other than the first name the device.
std::unique_ptr<ForceKernel> multi_device_kernel(const DeviceTeam& team, const KernelInfo& kernel,
                                                 const Settings& settings);

}  // namespace orrery
