#pragma once

#include <memory>

#include "compute/kernels/rank_device.h"

namespace orrery {

/// The CUDA device of this process, which is one of several ranks. What it exchanges with the others goes
/// through page-locked host memory, or from device to device by NCCL.
std::unique_ptr<RankDevice> cuda_rank_device();

}  // namespace orrery
