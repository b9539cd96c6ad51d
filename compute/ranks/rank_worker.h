#pragma once

#include "compute/kernels/catalog.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// What every rank but the leader runs: carries out its orders, with kernels of this catalog, until it ends. An error
/// of a kernel goes to the leader.
void serve_leader(Communicator& ranks, const KernelCatalog& kernels);

}  // namespace orrery
