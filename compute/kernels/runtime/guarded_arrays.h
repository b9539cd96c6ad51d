#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Arrays of an evaluation on a device, each between two regions that a wrong access shows: NaN around the bodies, -1
/// around the targets.
class GuardedArrays {
 public:
  /// Calls `enqueue` with `args`, but for the bodies, the targets (none: every body) and the accelerations, which it
  /// is to store. Waits, and returns one entry per body; what was not written is NaN. Throws std::runtime_error if
  /// something was written outside of the accelerations.
  std::vector<Vec4> evaluate(const cuda::Device& device, ForceArgs args, std::span<const Vec4> bodies,
                             std::span<const int> targets, const std::function<void(const ForceArgs&)>& enqueue);

 private:
  cuda::DeviceArray<Vec4> bodies_, accelerations_;
  cuda::DeviceArray<int> targets_;
};

}  // namespace orrery
