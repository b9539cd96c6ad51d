#include <stdexcept>
#include <string>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

void ForceKernel::evaluate(const ForceArgs& args) {
  if (args.targets) {
    if (!takes_targets_) {
      throw UsageError(
          "this kernel always evaluates every body; choose one for which `orrery kernels` lists 'targets'");
    }
    if (args.targets.count < 1 || args.targets.count > args.count) {
      throw std::logic_error(std::to_string(args.targets.count) + " targets of " + std::to_string(args.count) +
                             " bodies; allowed: 1 to the number of bodies");
    }
  }
  do_evaluate(args);
}

std::unique_ptr<ForceKernel> KernelInfo::make(const Settings& settings, const cuda::Device* device) const {
  std::unique_ptr<ForceKernel> kernel = create(settings, device);
  kernel->takes_targets_ = takes_targets;
  return kernel;
}

}  // namespace orrery
