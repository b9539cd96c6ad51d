#pragma once

#include <atomic>

#include "compute/core/bodies.h"
#include "compute/core/force_law.h"

namespace orrery {

/// Sums over a system in double precision, in units of G = 1.
struct Conserved {
  double kinetic = 0;
  double potential = 0;  ///< each pair once; O(N^2)
  Vec3d momentum;
  Vec3d angular_momentum;  ///< about the origin
  double energy() const { return kinetic + potential; }
};

/// Of bodies with low words, these count too. Where `cancelled` is given, returns soon after it is set, with sums that
/// mean nothing.
Conserved conserved(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled = nullptr);

}  // namespace orrery
