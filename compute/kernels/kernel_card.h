#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Resources that the main launch of a CUDA kernel uses on a device.
struct KernelCard {
  CUkern_st* function = nullptr;      ///< see MainLaunch
  std::string name;                   ///< symbol in the machine code; empty if the CUDA runtime is older than 12.3
  int architecture = 0;               ///< architecture of the machine code: 90 for sm_90
  int registers = 0;                  ///< registers per thread
  std::size_t local_bytes = 0;        ///< local memory per thread, such as spilled registers
  std::size_t shared_bytes = 0;       ///< shared memory per block, static and dynamic
  int block = 0, blocks = 0;          ///< threads per block, blocks in the grid
  int blocks_per_multiprocessor = 0;  ///< number of blocks that are resident at the same time
  double occupancy = 0;               ///< theoretical occupancy, 0 to 1: resident warps / maximum of a multiprocessor
  int best_block = 0;                 ///< smallest of 32, 64, 128, ... 1024 threads with the highest occupancy
  double best_occupancy = 0;          ///< occupancy with best_block
  double waves = 0;                   ///< blocks / blocks that are resident on the whole device
};

/// Returns the card of `kernel`, which was made for `device`, for `count` bodies with masses in this range; none for a
/// CPU kernel. Throws cuda::Error.
std::optional<KernelCard> kernel_card(const ForceKernel& kernel, const cuda::Device* device, const Law& law, int count,
                                      const MassRange& masses);

}  // namespace orrery
