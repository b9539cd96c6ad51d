#pragma once

#include <span>

#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// The kernel that a setup selects first, with which its simulation is made, so that no other needs to run here; null:
/// the default one.
KernelPtr kernel_of_setup(const KernelCatalog& kernels, std::span<const Command> setup);

/// Carries out the setup of a new simulation; then, where there are `settings`, those of the default kernel. Throws as
/// Simulation::apply(), and UsageError that names other kernels if the default one has not all of these settings.
void set_up(Simulation& simulation, const Backends& backends, std::span<const Command> setup,
            const Settings::Values& settings);

}  // namespace orrery
