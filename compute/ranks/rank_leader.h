// The leader, rank 0 of several, and the workers that carry out its orders.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/cuda_kernel.h"
#include "compute/ranks/protocol.h"

namespace orrery {

/// The leader, rank 0 of several: makes kernels that all ranks evaluate. The workers run serve_leader() until end() or
/// the destructor stops them.
class RankLeader final : public KernelSharing {
 public:
  /// All arguments must outlive this object. `device`: the leader's, for CUDA kernels; null: no rank has one.
  RankLeader(Communicator& ranks, RankWatch& watch, RankDevice* device = nullptr)
      : channel_{ranks, watch}, place_on_host_{ranks.place_on_host()}, device_{device} {}

  /// Stops the workers, see WorkerChannel::end().
  void end() { channel_.end(); }

  int ranks() const override { return channel_.ranks(); }
  int open_devices(const RankDeviceSelection& which) override;
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                    const RankDeviceSelection& devices) override;
  std::string transport() const override;

 private:
  int open(const RankDeviceSelection& which);
  Transport connect();
  std::vector<int> nccl_versions();

  WorkerChannel channel_;
  const int place_on_host_;
  RankDevice* const device_;
  mutable std::mutex mutex_;  // guards the members below, except next_key_
  std::optional<RankDeviceSelection> opened_;
  std::vector<RankDeviceFacts> facts_;  // opened devices, by rank
  int own_ordinal_ = 0;                 // ordinal of the leader's device
  std::optional<Transport> transport_;  // transport of data between these devices; none: not chosen yet
  std::atomic<int> next_key_ = 0;
};

/// Carries out the leader's orders on a worker until the leader ends it. Sends errors of kernels to the leader.
/// `kernels` must contain every kernel that the leader makes. `device`: for CUDA kernels; null: none.
void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device = nullptr);

}  // namespace orrery
