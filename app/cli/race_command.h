#pragma once

#include "app/cli/options.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Runs combinations of kernels, integrators and time steps to the same time and prints what each costs. Returns the
/// exit status. Throws UsageError and std::runtime_error.
int run_race(const Backends& backends, const RaceOptions& options);

}  // namespace orrery
