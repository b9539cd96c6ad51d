#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery run`. Exit status 0 at the end of the run, that of the signal where it was stopped. Throws UsageError or
/// std::runtime_error.
int run_simulation(const Backends& backends, const RunOptions& options);

}  // namespace orrery
