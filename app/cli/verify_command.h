#pragma once

#include "app/cli/options.h"
#include "compute/sim/backends.h"

namespace orrery {

/// `orrery verify`. Exit status 1 when a kernel misses its own tolerance or fails. Throws UsageError or
/// std::runtime_error.
int run_verify(const Backends& backends, const VerifyOptions& options);

}  // namespace orrery
