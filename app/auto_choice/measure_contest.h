#pragma once

#include <vector>

#include "app/auto_choice/contest.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// The most bodies with which contenders are measured: more would take too long and change little, as the machine has
/// all it can do by then.
int most_measured_bodies(Backend backend);

/// Every kernel that stands for election on the best backend of this machine, in the order of kernels() and of their
/// contenders.
std::vector<Variant> contenders_here();

/// Measures them, all of one backend and at least one, with as many bodies as demanded or as their time allows: some
/// tenths of a second in all. Steps are leapfrog's, force and integration, as they are shown.
Contest measure_contest(const std::vector<Variant>& contenders, const KernelDemand& demand);

}  // namespace orrery
