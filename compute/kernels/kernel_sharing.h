#pragma once

#include <memory>
#include <string>

#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

/// Returns whether several CUDA devices of one process can divide the evaluations of a kernel.
bool devices_can_divide(const KernelInfo& kernel);
/// Returns why `ranks` ranks cannot share the evaluations of a kernel, one line; empty if they can.
std::string why_not_shared(const KernelInfo& kernel, int ranks);

/// Several processes, the ranks, that share each evaluation of a kernel. This process is one of them.
class KernelSharing {
 public:
  virtual ~KernelSharing() = default;
  /// >= 2
  virtual int ranks() const = 0;
  /// Opens a CUDA device in each rank, unless these were opened last, and returns the ordinal of this rank's. Throws as
  /// RankDevice::open(), also what another rank throws, and as check_devices().
  virtual int open_devices(const DevicesOfRanks& which) = 0;
  /// A kernel of which every rank evaluates a part, one of CUDA on these devices; why_not_shared() has nothing against
  /// it. This object must outlive it. Throws as KernelInfo::make() and open_devices().
  virtual std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                            const DevicesOfRanks& devices) = 0;
  /// Returns how data get from the CUDA device of one rank to that of another: "NCCL 2.28.3", "MPI (rank 2 has no
  /// NCCL)", or "MPI (NCCL 2.28.3 was lost)" until make() connects them anew. Empty until make() was called for a
  /// kernel of CUDA.
  virtual std::string data_way() const = 0;
};

}  // namespace orrery
