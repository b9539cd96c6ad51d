#pragma once

#include <atomic>
#include <span>
#include <vector>

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

/// The part of the potential energy that the bodies from `first` up to, and without, `last` have with those before
/// each: so all bodies together count each pair once. `low`: low words of the positions; empty: they have none.
/// `cancelled`: as above, or null.
std::vector<double> potentials_with_earlier(std::span<const Vec4> positions, std::span<const Vec4> low, int first,
                                            int last, const Law& law, const std::atomic<bool>* cancelled);
/// The same as conserved(), from these of all bodies.
Conserved conserved_with(const Bodies& bodies, std::span<const double> potentials);

}  // namespace orrery
