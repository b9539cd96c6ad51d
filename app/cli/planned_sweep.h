#pragma once

#include <vector>

#include "app/cli/options.h"
#include "app/lab/sweep/sweep.h"

namespace orrery {

/// What is to be measured.
struct PlannedSweep {
  SweepPlan plan;
  std::vector<Skipped> skipped;  ///< cannot run here
};

/// The sweep that these options ask for. If they ask for `auto`, it measures what `auto` chooses first. Prints notes to
/// stderr. Throws UsageError, or std::runtime_error if no kernel is left.
PlannedSweep plan_sweep(const Backends& backends, const BenchOptions& options);

/// Throws the entry's problem, as the exception that belongs to the exit status.
[[noreturn]] void throw_failure(const SweepEntry& entry);

}  // namespace orrery
