#pragma once

#include "app/cli/options.h"
#include "app/lab/profile/measure_profile.h"

namespace orrery {

/// `orrery profile`. Without hardware counters it prints why, with what is known, and the exit status is 0. Settings
/// that the device cannot run are listed as skipped; after a run-time failure everything else is profiled, and the exit
/// status is 1. Throws UsageError or std::runtime_error.
int run_profile(const Backends& backends, const ProfileOptions& options);
/// The same with a measurement of these backends that may be prepared.
int run_profile(const Backends& backends, const ProfileOptions& options, ProfileMeasurement& measurement);

}  // namespace orrery
