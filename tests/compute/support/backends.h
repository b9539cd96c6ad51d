#pragma once

#include <string_view>
#include <vector>

#include "compute/sim/backends.h"

namespace orrery::test {

/// The built-in kernels, one catalog for the whole test program. A test that changes a catalog has its own.
inline KernelCatalog& catalog() {
  static KernelCatalog catalog;
  return catalog;
}
inline std::vector<KernelPtr> kernels() {
  return catalog().all();
}
inline KernelPtr find_kernel(std::string_view id) {
  return catalog().find(id);
}

/// This machine, which runs them: its processor and its first CUDA device.
inline const Backends& backends() {
  static const Backends backends{catalog()};
  return backends;
}

/// Applies commands to a simulation, in this order.
template <class Simulation, class... Commands>
void apply(Simulation& simulation, const Commands&... commands) {
  (simulation.apply(commands), ...);
}

}  // namespace orrery::test
