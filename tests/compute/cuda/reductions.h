#pragma once

#include <vector>

#include "compute/core/vec.h"

namespace orrery::test {

struct BoxOfPoints {
  Vec3 low, high;
};

/// What warp.h and block.h make of the values, one per thread of one block. Throws cuda::Error.
std::vector<int> device_sums_up_to(const std::vector<int>& values);            ///< of 32 values
std::vector<float> device_warp_sums(const std::vector<float>& values);         ///< of 32 values: what each lane gets
std::vector<float> device_team_sums(const std::vector<float>& values);         ///< of 32 values in teams of 8
double device_block_sum(const std::vector<double>& values);                    ///< of 256 values
BoxOfPoints device_box(const std::vector<Vec3>& points);                       ///< of a multiple of 32, up to 1024
std::vector<int> device_ordered_bits(const std::vector<float>& values);        ///< of up to 1024 values
std::vector<float> device_from_ordered_bits(const std::vector<int>& ordered);  ///< of up to 1024 values

}  // namespace orrery::test
