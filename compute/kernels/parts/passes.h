// Passes over the bodies before and after the force pass of a CUDA kernel.
#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/body_arrays.h"

struct CUstream_st;

namespace orrery {

/// The bodies of an evaluation in a kernel's layout. The buffer that is drawn is always float4. For any other layout, a
/// pass before each force pass makes a copy.
class BodyLayout {
 public:
  BodyLayout(const cuda::Device& device, Layout layout) : device_{device}, layout_{layout} {}
  Layout layout() const { return layout_; }
  /// Allocates memory for `count` bodies. Throws UsageError if the GPU's memory is short.
  void prepare(int count);
  /// Enqueues the copy, if the layout needs one. Returns the arrays.
  BodyArrays arranged(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  Layout layout_;
  cuda::DeviceArray<float> copy_;
};

/// Adds up `splits` rows of partial accelerations, in order, and finishes every body. It is the second pass of a kernel
/// that divides the sum over j among blocks. `d_partials` holds splits x count entries (ax, ay, az, unused), one row
/// per split.
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
  /// Allocates memory for `count` accelerations. Throws UsageError if the GPU's memory is short.
  void prepare(int count);
  /// Returns the force kernel's epilogue, which stores to the accelerations of `args`, or to this object's memory if
  /// there are none.
  Epilogue storing(const ForceArgs& args);
  /// Call after the force kernel. Enqueues the kick that `args` request, if any.
  void finish(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  const char* instead_;
  cuda::DeviceArray<Vec4> own_;
};

}  // namespace orrery
