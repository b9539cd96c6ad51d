#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery bench`. Settings that the device cannot run are listed as skipped. After a run-time failure everything else
/// is measured, and the exit status is 1. Throws UsageError or std::runtime_error.
int run_bench(const Backends& backends, const BenchOptions& options);

}  // namespace orrery
