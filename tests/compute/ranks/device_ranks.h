#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/compute/ranks/host_device.h"
#include "tests/compute/ranks/rank_team.h"

namespace orrery::test {

/// A kernel of the CPU that ranks take for one of CUDA.
inline KernelInfo on_host_devices(KernelInfo kernel) {
  kernel.backend = Backend::cuda;
  return kernel;
}

inline KernelInfo serial_on_host_devices() {
  KernelInfo kernel = on_host_devices(*find_kernel("cpu-serial"));
  kernel.id = "device-serial";
  return kernel;
}

/// Returns a kernel of which each rank gets a part of the bodies; all ranks offer theirs to each other.
inline KernelInfo exchanging_on_host_devices() {
  KernelInfo kernel = serial_on_host_devices();
  kernel.divides = kernel.is_tree = true;
  return kernel;
}

/// The same, of which the ranks can hold the bodies.
inline KernelInfo holding_on_host_devices() {
  KernelInfo kernel = exchanging_on_host_devices();
  kernel.id = holding_kernel;
  return kernel;
}

/// Ranks, each with a host device for itself.
class DeviceRanks {
 public:
  /// `nccl`: see HostDevice.
  DeviceRanks(int size, int devices, const KernelInfo& workers = serial_on_host_devices(), HostNccl* nccl = nullptr,
              std::size_t most_bytes = SIZE_MAX)
      : opened_(static_cast<std::size_t>(size)),
        known_{known_with(workers)},
        team_{size, *known_, [this, devices, nccl] { return std::make_unique<HostDevice>(devices, opened_, nccl); },
              most_bytes} {
    std::ranges::fill(opened_, -1);
  }

  RankLeader& leader() { return team_.leader(); }
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel = serial_on_host_devices()) {
    return team_.leader().make(kernel, Settings{kernel}, {});
  }
  std::vector<int> opened() const { return {opened_.begin(), opened_.end()}; }

 private:
  static std::unique_ptr<KernelCatalog> known_with(const KernelInfo& kernel) {
    auto known = std::make_unique<KernelCatalog>();
    known->put(kernel);
    return known;
  }

  std::vector<std::atomic<int>> opened_;  // by rank
  std::unique_ptr<KernelCatalog> known_;
  RankTeam team_;
};

inline constexpr int new_nccl = 22803, old_nccl = 21903;

inline HostNccl nccl_of(int ranks) {
  return HostNccl{std::vector<int>(static_cast<std::size_t>(ranks), new_nccl)};
}

}  // namespace orrery::test
