#pragma once

#include <filesystem>

#include "app/ui_state/view_options.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// `orrery view`. Returns the exit status; throws UsageError or std::runtime_error. `next_program`: see Viewer::run().
int run_view(KernelCatalog& kernels, const ViewOptions& options, std::filesystem::path* next_program = nullptr);

}  // namespace orrery
