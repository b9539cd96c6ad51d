#pragma once

#include "compute/kernels/catalog.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// Carries out the leader's orders on this rank, which is a worker, until the leader ends it. Sends errors of kernels
/// to the leader. `kernels`: must have every kernel that the leader makes. `device`: for CUDA kernels; null: none.
void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device = nullptr);

}  // namespace orrery
