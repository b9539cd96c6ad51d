#pragma once

#include <span>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Targets of one evaluation in memory of a device; none: every body.
class DeviceTargets {
 public:
  DeviceTargets(const cuda::Device& device, std::span<const int> targets, cudaStream_t stream) {
    if (targets.empty()) return;
    indices_ = cuda::DeviceArray<int>(device, targets.size());
    cuda::upload(targets, indices_.data(), stream);
  }
  /// `args` of these targets. They must stay until the evaluation has ended.
  ForceArgs of(ForceArgs args) const {
    if (indices_.size() == 0) return args;
    args.targets = {.indices = indices_.data(), .count = static_cast<int>(indices_.size())};
    return args;
  }

 private:
  cuda::DeviceArray<int> indices_;
};

}  // namespace orrery
