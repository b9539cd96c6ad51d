#pragma once

#include "compute/kernels/catalog.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// Carries out the leader's orders on every other rank, with kernels of this catalog, until the leader ends it. Kernel
/// errors are sent to the leader. `device`: for CUDA kernels; null: none.
void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device = nullptr);

}  // namespace orrery
