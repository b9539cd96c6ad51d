// Passes over the bodies that follow the force pass of a CUDA kernel.
#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/kernel.h"

struct CUstream_st;

namespace orrery {

/// Adds up `splits` rows of partial accelerations, in order, and finishes every body: the second pass of a kernel that
/// divides the sum over j among blocks. `d_partials` holds splits x count entries (ax, ay, az, unused), one row per
/// split.
void finish_partial_sums(const Vec4* d_partials, int splits, const Vec4* d_bodies, int count, const Epilogue& epilogue,
                         CUstream_st* stream);
/// Does the same for targets: splits x targets.count entries, in the order of the targets.
void finish_partial_sums_of_targets(const Vec4* d_partials, int splits, const Vec4* d_bodies, const Targets& targets,
                                    const Epilogue& epilogue, CUstream_st* stream);

/// The epilogue of a CUDA kernel that only stores its accelerations (docs/literature.md, rows 1, 8 and 16). A requested
/// kick is a separate pass that reads them back.
class StoredEpilogue {
 public:
  /// `instead`: the alternative that the error names if the GPU has no memory for the accelerations.
  explicit StoredEpilogue(const cuda::Device& device, const char* instead = "epilogue=fused")
      : device_{device}, instead_{instead} {}
  /// Takes memory for `count` accelerations. Throws UsageError if the GPU is short of it.
  void prepare(int count);
  /// Returns the force kernel's epilogue: it stores to the accelerations of `args`, or else to this object's own
  /// memory.
  Epilogue storing(const ForceArgs& args);
  /// Call after the force kernel. Enqueues the kick that `args` request, if any.
  void finish(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  const char* instead_;
  cuda::DeviceArray<Vec4> own_;
};

}  // namespace orrery
