#pragma once

#include "compute/cuda/arrays.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/body_arrays.h"

namespace orrery {

inline constexpr Values<Layout::float4, Layout::float3, Layout::soa, Layout::aos6> layout_values{"float4", "float3",
                                                                                                 "soa", "aos6"};

/// The bodies of an evaluation in a kernel's layout. The buffer that is drawn is always float4. For any other layout, a
/// pass before each force pass makes a copy.
class BodyLayout {
 public:
  BodyLayout(const cuda::Device& device, Layout layout) : device_{device}, layout_{layout} {}
  Layout layout() const { return layout_; }
  /// Takes memory for `count` bodies. Throws UsageError if the GPU is short of it.
  void prepare(int count);
  /// Enqueues the copy, if the layout needs one. Returns the arrays.
  BodyArrays arranged(const ForceArgs& args);

 private:
  const cuda::Device& device_;
  Layout layout_;
  cuda::DeviceArray<float> copy_;
};

}  // namespace orrery
