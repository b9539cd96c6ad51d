#pragma once

#include <vector>

#include "app/lab/tuning/accuracy_trials.h"
#include "app/lab/tuning/tuning_run.h"
#include "compute/sim/backends.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

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
