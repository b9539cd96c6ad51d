#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Lanes of the longest vector that a CPU kernel uses, a multiple of all shorter ones.
inline constexpr int max_lanes = 16;

/// The pair laws of vectors compute lane_root_scale / r instead of 1 / r, which saves an instruction per pair. Both
/// laws are m i^3 f(H i^2) with i = 1 / r, so lane_mass_scale for m and lane_repulsion_scale for H cancel the scale.
/// All three are powers of two, so the results have the same bits.
inline constexpr float lane_root_scale = 2;
inline constexpr float lane_mass_scale = 1 / (lane_root_scale * lane_root_scale * lane_root_scale);
inline constexpr float lane_repulsion_scale = 1 / (lane_root_scale * lane_root_scale);

/// All bodies as a structure of aligned arrays, each a multiple of max_lanes long.
struct PaddedColumns {
  const float *x, *y, *z;
  const float* scaled_mass;  ///< times lane_mass_scale
  int padded_count;
};

/// The arrays of one kernel object.
class BodyColumns {
 public:
  /// Copies the bodies, padded by copies of the last one without mass: they pull nothing, and their distances stay in
  /// range. The arrays are valid until the next call; after a cancellation their contents are undefined.
  PaddedColumns fill(const ForceArgs& args, int threads);

 private:
  std::size_t padded_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> columns_;
};

}  // namespace orrery
