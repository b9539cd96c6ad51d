#pragma once

#include "app/cli/options.h"
#include "compute/sim/backends.h"

namespace orrery {

/// `orrery replay`: returns the exit status, 1 if a state differs. Throws UsageError or std::runtime_error for a file
/// that cannot be replayed here.
int run_replay(const Backends& backends, const ReplayOptions& options);

}  // namespace orrery
