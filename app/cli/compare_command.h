#pragma once

#include "app/cli/options.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Runs two variants from the same bodies and prints how far they part. Returns the exit status. Throws UsageError, and
/// std::runtime_error after it has printed what was measured.
int run_compare(const Backends& backends, const CompareOptions& options);

}  // namespace orrery
