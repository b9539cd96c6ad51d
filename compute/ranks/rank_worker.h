#pragma once

#include "compute/kernels/catalog.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// What every rank but the leader runs: carries out its orders, with kernels of this catalog, until it ends. An error
/// of a kernel goes to the leader. `device`: for CUDA kernels; null: there are none.
void serve_leader(Communicator& ranks, const KernelCatalog& kernels, RankDevice* device = nullptr);

}  // namespace orrery
