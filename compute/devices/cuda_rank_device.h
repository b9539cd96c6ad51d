#pragma once

#include <memory>

#include "compute/kernels/rank_device.h"

namespace orrery {

/// Returns the CUDA device of this process as a rank among several. Data go to the devices of other ranks through
/// page-locked host memory, or directly by NCCL.
std::unique_ptr<RankDevice> cuda_rank_device();

}  // namespace orrery
