#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/tuning/accuracy_trials.h"
#include "compute/sim/backends.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// The measurements behind a choice.
struct TuningResult {
  std::vector<Candidate> candidates;  ///< in order of preference among equals
  int count = 0;                      ///< bodies that the times hold for
  std::string date{};                 ///< of the measurement, in UTC

  /// Indices of the measured candidates. The first is the one to choose: the first in order whose time is at most 2 %
  /// above the fastest, so that the choice does not follow the noise. The others follow by time.
  std::vector<std::size_t> preference() const;
};

/// Returns the time of one step in ms, from a batch of `steps` steps. Throws what the candidate fails with: UsageError
/// if it cannot run here.
using MeasureSteps = std::function<double(const Variant& candidate, int steps)>;

/// A tuning run. Warms up every candidate that has no problem with `pilots` (>= 1) batches, except those whose step is
/// known to be slow. Then measures those that are within 25 % of the fastest, in rounds, until `now_s` has advanced by
/// `budget_s`; a round that has begun ends. Never throws what a candidate fails with.
void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots);

/// The most bodies with which direct sums are measured. More would take too long and change little, since these already
/// keep the machine busy.
int most_measured_bodies(Backend backend);

/// Whether kernels that are not full_fp32 are candidates: with few bodies a direct sum is the fastest, and `exact`
/// rules them out.
bool approximations_are_candidates(const KernelDemand& demand, Backend backend);

/// The candidates of all kernels of the best backend of this machine, in order of preference among equals: that of the
/// catalog and of their declarations.
std::vector<Variant> candidates_here(const Backends& backends);

/// Tries candidates with `system`, see try_accuracy(): each trial is one evaluation, and a direct sum in fp64 over a
/// sample of bodies. Errors of full fp32 sums depend little on the count: those are measured with at most
/// most_measured_bodies() of the bodies. Throws Cancelled soon after `stop` was requested, on CUDA after the present
/// batch; so does measure_candidates().
AccuracyTrials measure_accuracy(const Backends& backends, const std::vector<Variant>& candidates,
                                const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop);

/// Measures the candidates, all of one backend and at least one, with run_tuning(). It takes 0.35 s (CPU) or 0.2 s
/// (CUDA) with the trials, and longer if one evaluation by a tree does. Direct sums step a star cluster of the demanded
/// count, or of as many bodies as their time allows: their time does not depend on positions. Trees step `system`
/// itself. If a tree is a candidate, all times hold for the demanded count. Steps are leapfrog's: force and
/// integration.
TuningResult measure_candidates(const Backends& backends, const AccuracyTrials& trials, const KernelDemand& demand,
                                const ForceSystem& system, const std::stop_token& stop);

}  // namespace orrery
