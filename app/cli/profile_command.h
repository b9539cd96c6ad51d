#pragma once

#include <span>
#include <string>

#include "app/cli/options.h"
#include "app/lab/profile/kernel_profile.h"
#include "app/lab/profile/measure_profile.h"
#include "app/text/table.h"

namespace orrery {

/// `orrery profile`. Without hardware counters it prints why, with what is known, and the exit status is 0. Settings
/// that the device cannot run are listed as skipped; after a run-time failure everything else is profiled, and the exit
/// status is 1. Throws UsageError or std::runtime_error.
int run_profile(const Backends& backends, const ProfileOptions& options);

/// Profiles with a measurement of these backends that may be prepared.
int run_profile(const Backends& backends, const ProfileOptions& options, ProfileMeasurement& measurement);

/// The text of one profile: its figures, and its stall reasons with a bar and a sentence for each. `before`: the
/// profile to compare with, or null.
std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style = {});

/// A row for each profile; empty if there is only one.
std::string profiles_summary(std::span<const KernelProfile> profiles, const TextStyle& style = {});

}  // namespace orrery
