#pragma once

#include <atomic>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What a kernel has whose ranks can share the sum over all pairs for the potential energy.
class PotentialFacet {
 public:
  virtual ~PotentialFacet() = default;
  /// As potentials_with_earlier() of all bodies, bit for bit. Throws as ForceKernel::evaluate().
  virtual std::vector<double> potentials(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled) = 0;
};

/// Null: the kernel has none.
inline PotentialFacet* potentials_of(ForceKernel& kernel) {
  return dynamic_cast<PotentialFacet*>(&kernel);
}

}  // namespace orrery
