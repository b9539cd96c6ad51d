#pragma once

#include <vector>

#include "app/lab/tuning/contest.h"
#include "compute/sim/backends.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// The most bodies with which direct sums are measured: more would take too long and change little, as the machine has
/// all it can do by then.
int most_measured_bodies(Backend backend);

/// Whether kernels that are not full_fp32 may win: with few bodies a direct sum is the fastest, and `exact` leaves none
/// of them.
bool approximations_stand(const KernelDemand& demand, Backend backend);

/// Every kernel that stands for election on the best backend of this machine, in the order of the catalog and of their
/// contenders.
std::vector<Variant> contenders_here(const Backends& backends);

/// Tries those that are not full_fp32 with `system`, see try_accuracy(): one evaluation by each that is tried, and a
/// direct sum in fp64 over a sample of bodies. More direct sums than that only where an evaluation is short, or where
/// no tree suffices and every step will be as long.
/// Throws ChoiceAbandoned at the next measurement after `stop` was requested; so does measure_contest().
Trials measure_trials(const Backends& backends, const std::vector<Variant>& contenders, const KernelDemand& demand,
                      const ForceSystem& system, const std::stop_token& stop);

/// Measures those that may win by their trials, all of one backend and at least one: some tenths of a second with the
/// trials, and more where an evaluation by a tree takes as long. Direct sums are measured with as many bodies as
/// demanded or as their time allows, of a star cluster, as where bodies are does not matter to them. Trees are measured
/// with `system` itself. With trees among the contenders all times are of as many bodies as demanded. Steps are
/// leapfrog's, force and integration, as they are shown.
Contest measure_contest(const Backends& backends, const Trials& trials, const KernelDemand& demand,
                        const ForceSystem& system, const std::stop_token& stop);

}  // namespace orrery
