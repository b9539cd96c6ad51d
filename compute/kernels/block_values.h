#pragma once

#include "compute/kernels/dispatch.h"

namespace orrery {

/// The values of the tunable `block`: threads in a block. The kernel card compares their occupancies.
inline constexpr Values<32, 64, 128, 256, 512, 1024> block_values;
inline constexpr int max_block = block_values.largest;

}  // namespace orrery
