#pragma once

#include "app/ui_state/view_options.h"
#include "compute/kernels/catalog.h"

namespace orrery {

struct NextProgram;

/// `orrery view`. Returns the exit status; throws UsageError or std::runtime_error. `next_program`: see Viewer::run().
int run_view(KernelCatalog& kernels, const ViewOptions& options, NextProgram* next_program = nullptr);

}  // namespace orrery
