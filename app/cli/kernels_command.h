#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery kernels`: every kernel of this build with its tunables, its source in the literature and whether it runs
/// here.
int run_kernels(const Backends& backends, const KernelsOptions& options);

}  // namespace orrery
