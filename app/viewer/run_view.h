#pragma once

#include "app/ui_state/view_options.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// `orrery view`. Returns the exit status; throws UsageError or std::runtime_error.
int run_view(KernelCatalog& kernels, const ViewOptions& options);

}  // namespace orrery
