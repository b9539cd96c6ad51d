#pragma once

#include "compute/cuda/device_array.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Copies of the arrays of an evaluation, each between two regions of NaN.
class GuardedArrays {
 public:
  /// Enqueues the copies. What is stored goes to the copy; `args` must store accelerations.
  ForceArgs guarded(const cuda::Device& device, const ForceArgs& args);
  /// Waits for the evaluation of guarded(). Throws std::runtime_error if something was written outside of the
  /// accelerations, and copies them to those of `args`.
  void finish(const ForceArgs& args);

 private:
  cuda::DeviceArray<Vec4> bodies_, accelerations_;
};

}  // namespace orrery
