#include <stdexcept>
#include <string>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

void ForceKernel::evaluate(const ForceArgs& args) {
  if (args.targets) {
    if (!takes_targets()) {
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

}  // namespace orrery
