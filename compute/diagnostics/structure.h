// The structure of a system: virial ratio, Lagrangian radii, densities around bodies.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"

namespace orrery {

/// 2 K / |W|: twice the kinetic energy in the frame of the centre of mass, over the potential energy.
struct VirialRatio {
  double ratio = 0;  ///< not a number if there is no potential energy
  double error = 0;  ///< two standard errors; 0: all pairs were summed
  int heavy = 0;     ///< number of heaviest bodies, all of whose pairs were summed
  int sampled = 0;   ///< number of other bodies whose pairs were summed; 0: all
  bool exact() const { return sampled == 0; }
};

/// Computes the virial ratio. `gravity`: G in the units of the bodies. `softening`: Plummer's, >= 0; if 0, pairs at one
/// place are left out. Sums all pairs if there are at most `most_pairs`. Otherwise, sums that many pairs: half of them
/// with the heaviest bodies, half among a sample of the others. The sample is drawn with a probability proportional to
/// mass (Hansen and Hurwitz, On the Theory of Sampling from Finite Populations, 1943).
VirialRatio virial_ratio(const Bodies& bodies, double gravity, double softening, std::int64_t most_pairs = 400'000'000);

/// Returns the radii of spheres around the centre of mass that hold these `shares` of the mass, ascending in [0, 1].
/// Each sphere ends at a body. All are NaN if a body is not finite.
std::vector<double> lagrangian_radii(const Bodies& bodies, std::span<const double> shares);

inline constexpr int density_neighbours = 16;

/// Returns the mass density around each body, from its density_neighbours nearest neighbours: the mass of all but the
/// last, over the volume of the sphere that reaches to the last (Casertano and Hut 1985, ApJ 298, 80). Infinite where
/// bodies coincide; NaN for a body that is not finite or has fewer than two finite neighbours. Uses at most `threads`
/// threads. If `cancelled` (may be null) gets set, returns early with meaningless values.
std::vector<float> local_densities(std::span<const Vec4> positions, int threads,
                                   const std::atomic<bool>* cancelled = nullptr);

}  // namespace orrery
