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

/// Group of processes, the ranks, that share each evaluation of a kernel. This process is one of them.
class KernelSharing {
 public:
  virtual ~KernelSharing() = default;
  /// Returns the number of ranks, at least 2.
  virtual int ranks() const = 0;
  /// Opens a CUDA device in each rank, unless the latest call opened the same ones. Returns the ordinal of this rank's
  /// device. Throws as check_devices(), and as RankDevice::open() in any of the ranks.
  virtual int open_devices(const RankDeviceSelection& which) = 0;
  /// Makes a kernel whose evaluations all ranks share, each a part; a CUDA kernel runs on these devices. Call only if
  /// why_not_shared() returns no reason. This object must outlive the kernel. Throws as KernelInfo::make() and
  /// open_devices().
  virtual std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                            const RankDeviceSelection& devices) = 0;
  /// Returns how data are sent from the CUDA device of one rank to another: "NCCL 2.28.3", "MPI (rank 2 has no NCCL)",
  /// or "MPI (NCCL 2.28.3 was lost)" until make() connects the devices again. Empty until make() was called for a CUDA
  /// kernel.
  virtual std::string transport() const = 0;
};

}  // namespace orrery
