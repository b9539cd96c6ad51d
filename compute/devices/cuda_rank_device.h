#pragma once

#include <memory>

#include "compute/kernels/rank_device.h"

namespace orrery {

/// Returns the CUDA device of this process, which is one of several ranks. Exchanges with other ranks go through
/// page-locked host memory, or from device to device by NCCL.
std::unique_ptr<RankDevice> cuda_rank_device();

}  // namespace orrery
