#pragma once

#include "compute/cuda/device_array.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tensor/tensor_operands.h"

namespace orrery {

/// The sums of cuda-tensor, and what is wrong with them.
///
/// A body's acceleration is the difference of sum s m_j x_j and x_i sum s m_j, so its rounding grows with
/// |x_i| |sum s m_j|, which is known for each body. Where that is too much, as for bodies far closer together than
/// either is to the mean, the body is summed again from differences of coordinates.
class TensorSums {
 public:
  explicit TensorSums(const cuda::Device& device) : device_{device} {}
  /// Takes room for `padded` bodies. Throws UsageError where the GPU has none.
  void prepare(int padded);
  /// Enqueues zeroing. What is to be added to: the acceleration of body i in scaled units and, in w, sum s m_j.
  Vec4* begin(const ForceArgs& args, int padded);
  /// Enqueues what hands the accelerations to the epilogue.
  void finish(const ForceArgs& args, const TensorOperands& operands);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<Vec4> sums_;
  cuda::DeviceArray<int> again_;  // how many bodies are summed again, then which
};

}  // namespace orrery
