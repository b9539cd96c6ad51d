#pragma once

#include <memory>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Several processes, the ranks, that share each evaluation of a CPU kernel. This process is one of them.
class KernelSharing {
 public:
  virtual ~KernelSharing() = default;
  /// >= 2
  virtual int ranks() const = 0;
  /// A kernel, one that takes targets, of which every rank evaluates a part. This object must outlive it. Throws as
  /// KernelInfo::make().
  virtual std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings) = 0;
};

}  // namespace orrery
