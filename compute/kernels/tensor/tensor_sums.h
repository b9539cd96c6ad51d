#pragma once

#include "compute/cuda/device_array.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tensor/tensor_operands.h"

namespace orrery {

/// The sums of cuda-tensor, and the correction of those that round too much.
///
/// A body's acceleration is the difference of sum s m_j x_j and x_i sum s m_j, so its rounding grows with
/// |x_i| |sum s m_j|, which is known for each body. If that is too much, as for bodies far closer to each other than
/// to the mean, the body is summed again from differences of coordinates.
class TensorSums {
 public:
  explicit TensorSums(const cuda::Device& device) : device_{device} {}
  /// Takes memory for `padded` bodies. Throws UsageError if the GPU is short of it.
  void prepare(int padded);
  /// Enqueues zeroing. Returns the sums to add to: the acceleration of body i in scaled units and, in w, sum s m_j.
  Vec4* begin(const ForceArgs& args, int padded);
  /// Enqueues the correction and the epilogue.
  void finish(const ForceArgs& args, const TensorOperands& operands);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<Vec4> sums_;
  cuda::DeviceArray<int> again_;  // how many bodies are summed again, then which
};

}  // namespace orrery
