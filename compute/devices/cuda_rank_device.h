#pragma once

#include <memory>

#include "compute/kernels/rank_device.h"

namespace orrery {

/// The CUDA device of this process, which is one of several ranks. Messages go through page-locked host memory.
std::unique_ptr<RankDevice> cuda_rank_device();

}  // namespace orrery
