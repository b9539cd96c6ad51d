#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// The epilogue of a CUDA kernel that only stores its accelerations (docs/literature.md, rows 1, 8 and 16). A requested
/// kick is a separate pass that reads them back.
class StoredEpilogue {
 public:
  /// `instead`: the alternative that the error names if the GPU has no memory for the accelerations.
  explicit StoredEpilogue(const cuda::Device& device, const char* instead = "epilogue=fused")
      : device_{device}, instead_{instead} {}
  /// Takes memory for `count` accelerations. Throws UsageError if the GPU is short of it.
  void prepare(int count);
  /// The force kernel's epilogue: it stores to the accelerations of `args`, or else to this object's own memory.
  Epilogue storing(const ForceArgs& args);
  /// Call after the force kernel. Enqueues the kick that `args` request, if any.
  void finish(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  const char* instead_;
  cuda::DeviceArray<Vec4> own_;
};

}  // namespace orrery
