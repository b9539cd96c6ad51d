#pragma once

#include "app/cli/options.h"

namespace orrery {

/// `orrery bench`. A combination of settings that the device cannot run is listed as skipped; a run-time failure ends
/// up in exit status 1 once everything else is measured. Throws UsageError or std::runtime_error.
int run_bench(const Backends& backends, const BenchOptions& options);

}  // namespace orrery
