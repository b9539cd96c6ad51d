#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"

namespace orrery {

/// Sums over a system in double precision, in units of G = 1, for an observer at rest at the origin.
struct Conserved {
  double mass = 0;
  double kinetic = 0;
  double potential = 0;  ///< sum over all pairs, each counted once; O(N^2)
  Vec3d momentum;
  Vec3d angular_momentum;  ///< about the origin
  double energy() const { return kinetic + potential; }
  /// Returns 2 K / |W| with the kinetic energy in the frame of the centre of mass: 1 in equilibrium. Not finite without
  /// a potential.
  double virial_ratio() const;
};

/// Computes the sums over all bodies, including their low words if they have any. If `cancelled` (may be null) gets
/// set, returns early with meaningless sums.
Conserved conserved(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled = nullptr);

/// Returns last - first values. Value k is the potential energy of body first + k with all bodies before it, in units
/// of G = 1. The values of all bodies together count each pair once. `low`: low words of the positions; empty: they
/// have none. `cancelled` may be null; if it gets set, values that were not computed are 0.
std::vector<double> potentials_with_earlier(std::span<const Vec4> positions, std::span<const Vec4> low, int first,
                                            int last, const Law& law, const std::atomic<bool>* cancelled);
/// Returns the same sums as conserved(), given potentials_with_earlier() of all bodies.
Conserved conserved_with(const Bodies& bodies, std::span<const double> potentials);

}  // namespace orrery
