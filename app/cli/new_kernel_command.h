#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery new-kernel`: writes a kernel file. Throws UsageError; std::runtime_error if the file exists or cannot be
/// written.
int run_new_kernel(const NewKernelOptions& options);

}  // namespace orrery
