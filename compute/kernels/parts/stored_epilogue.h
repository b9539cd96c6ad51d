#pragma once

#include "compute/cuda/device_array.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// The epilogue of a CUDA kernel that only stores its accelerations, as literature rows 1, 8 and 16 have it: the kick,
/// where one is asked for, is a pass of its own that reads them back.
class StoredEpilogue {
 public:
  /// `instead`: what a user may choose where the GPU has no room for the accelerations.
  explicit StoredEpilogue(const cuda::Device& device, const char* instead = "epilogue=fused")
      : device_{device}, instead_{instead} {}
  /// Takes room for `count` accelerations. Throws UsageError where the GPU has none.
  void prepare(int count);
  /// What the force kernel is to do: store, where `args` want the accelerations or else in this object's own memory.
  Epilogue storing(const ForceArgs& args);
  /// After the force kernel: enqueues the kick that `args` ask for, if any.
  void finish(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  const char* instead_;
  cuda::DeviceArray<Vec4> own_;
};

}  // namespace orrery
