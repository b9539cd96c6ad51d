#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tensor/tensor_operands.h"

namespace orrery {

/// The sums of cuda-tensor. A body's acceleration is sum s m_j x_j - x_i sum s m_j, so its rounding error grows with
/// |x_i| |sum s m_j|. If the error is too large, as for bodies far closer to each other than to the mean, finish() sums
/// the body again from differences of coordinates.
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
  cuda::DeviceArray<int> again_;  // the number of bodies to sum again, then their indices
};

}  // namespace orrery
