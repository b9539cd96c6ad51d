// The leader's side of CUDA kernels that all ranks evaluate.
#pragma once

#include <memory>
#include <string>

#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/protocol.h"

namespace orrery {

/// The transport of data between the devices of the ranks, chosen when the devices are opened.
struct Transport {
  std::string text{};      ///< "NCCL 2.28.3", or "MPI (why)"
  bool connected = false;  ///< true: data go from device to device until the connection is lost
  /// Returns the text to show. `is_open`: the connection is still open.
  std::string to_string(bool is_open) const { return connected && !is_open ? "MPI (" + text + " was lost)" : text; }
};

/// Returns the leader's side of a CUDA kernel that the devices of all ranks evaluate. `channel` must outlive it. `key`
/// identifies the kernel in orders. `device`: the leader's. `transport`: described by ForceKernel::chosen(). Throws as
/// KernelInfo::make(), also for a worker's error.
std::unique_ptr<ForceKernel> leader_cuda_kernel(WorkerChannel& channel, int key, const KernelInfo& kernel,
                                                const Settings& settings, RankDevice& device,
                                                const Transport& transport);

}  // namespace orrery
