#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Lanes of the longest vector that a CPU kernel uses; the shorter ones divide it.
inline constexpr int max_lanes = 16;

/// All bodies as a structure of aligned arrays, each a multiple of max_lanes long.
struct PaddedColumns {
  const float *x, *y, *z, *eighth_mass;
  int padded_count;
};

/// The arrays of one kernel object.
class BodyColumns {
 public:
  /// Copies the bodies, padded by copies of the last one without mass: they pull nothing, and they are no farther from
  /// anybody than a body is. The arrays stand until the next call; once cancelled, what is in them is undefined.
  PaddedColumns fill(const ForceArgs& args, int threads);

 private:
  std::size_t padded_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> columns_;
};

}  // namespace orrery
