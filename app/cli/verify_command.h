#pragma once

#include "app/cli/options.h"
#include "compute/diagnostics/reference.h"

namespace orrery {

/// `orrery verify`. Exit status 1 when a kernel misses its own tolerance or fails. Throws UsageError or
/// std::runtime_error.
int run_verify(const Backends& backends, const VerifyOptions& options);

/// Whether an error is within a tolerance; never for NaN.
bool within(const ForceError& error, const Tolerance& tolerance);

}  // namespace orrery
