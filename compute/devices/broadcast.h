#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/kernels/division.h"

namespace orrery {

using TeamDevices = std::vector<std::shared_ptr<const cuda::Device>>;

/// Enqueues copies from one device to another, entry for entry, on `stream`.
void copy_blocks(std::span<const DeviceBlock> from, const cuda::Device& from_device, std::span<const DeviceBlock> to,
                 const cuda::Device& to_device, cudaStream_t stream);

/// Copies from the first device of a team to all others.
class Broadcast {
 public:
  /// Blocks that one device receives (the first device: sends), and the stream of these copies.
  struct End {
    std::vector<DeviceBlock> blocks;
    cudaStream_t stream = nullptr;
  };

  virtual ~Broadcast() = default;
  /// Enqueues the copies, entry for entry. `ends` has one entry per device. The other streams already wait for the
  /// first device's blocks. Errors name the device, or all devices if the failure is not of a single one.
  virtual void send(std::span<const End> ends) = 0;
  virtual std::string name() const = 0;
};

/// Copies by cudaMemcpyPeerAsync(): each device fetches its data.
class PeerCopies final : public Broadcast {
 public:
  explicit PeerCopies(const TeamDevices& devices) : devices_{devices} {}
  void send(std::span<const End> ends) override;
  std::string name() const override { return "peer copies"; }

 private:
  const TeamDevices& devices_;
};

/// Broadcasts by NVIDIA's library NCCL, whose devices pass data on to each other. Throws std::runtime_error, one line,
/// if the library cannot be opened or cannot connect these devices. No device may be listed twice.
std::unique_ptr<Broadcast> nccl_broadcast(const TeamDevices& devices);

}  // namespace orrery
