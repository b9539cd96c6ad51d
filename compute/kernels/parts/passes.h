// Passes over the bodies before and after the force pass of a CUDA kernel.
#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/body_arrays.h"

struct CUstream_st;

namespace orrery {

/// Bodies of an evaluation in a kernel's layout. The caller's buffer, which is also drawn, is always float4. For other
/// layouts, a pass before each force pass makes a copy.
class BodyLayout {
 public:
  BodyLayout(const cuda::Device& device, Layout layout) : device_{device}, layout_{layout} {}
  Layout layout() const { return layout_; }
  /// Allocates memory for `count` bodies. Throws UsageError if the GPU's memory is short.
  void prepare(int count);
  /// Returns the bodies in the layout. Enqueues the copy if the layout is not float4.
  BodyArrays arranged(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  Layout layout_;
  cuda::DeviceArray<float> copy_;
};

/// Enqueues the second pass of a kernel that divides the sum over the sources among blocks. It adds up `splits` rows of
/// partial accelerations, in order, and calls the epilogue for every body. `d_partials` holds splits x count entries
/// (ax, ay, az, unused), one row per split.
void finish_partial_sums(const Vec4* d_partials, int splits, const Vec4* d_bodies, int count, const Epilogue& epilogue,
                         CUstream_st* stream);
/// Does the same for targets only. `d_partials` holds splits x targets.count entries, in the order of the targets.
void finish_partial_sums_of_targets(const Vec4* d_partials, int splits, const Vec4* d_bodies, const Targets& targets,
                                    const Epilogue& epilogue, CUstream_st* stream);

/// Epilogue of a CUDA kernel that only stores its accelerations (docs/literature.md, rows 1, 8 and 16). If a kick is
/// requested, a separate pass reads them back and kicks.
class StoredEpilogue {
 public:
  /// `instead`: alternative that the error message names if the GPU has no memory for the accelerations.
  explicit StoredEpilogue(const cuda::Device& device, const char* instead = "epilogue=fused")
      : device_{device}, instead_{instead} {}
  /// Allocates memory for `count` accelerations. Throws UsageError if the GPU's memory is short.
  void prepare(int count);
  /// Returns the epilogue for the force kernel. It stores to the accelerations that args.epilogue names, or to this
  /// object's memory if those are null.
  Epilogue storing(const ForceArgs& args);
  /// Enqueues the kick if args.epilogue requests one. Call after the force kernel.
  void finish(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  const char* instead_;
  cuda::DeviceArray<Vec4> own_;
};

}  // namespace orrery
