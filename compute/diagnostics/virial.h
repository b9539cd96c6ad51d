#pragma once

#include <cstdint>

#include "compute/core/bodies.h"

namespace orrery {

/// 2 K / |W|: twice the kinetic energy in the frame of the centre of mass, over the potential energy.
struct VirialRatio {
  double ratio = 0;  ///< not a number if there is no potential energy
  double error = 0;  ///< two standard errors; 0: all pairs were summed
  int heavy = 0;     ///< the heaviest bodies, all of whose pairs were summed
  int sampled = 0;   ///< of the other bodies: those whose pairs with each other were summed; 0: all
  bool exact() const { return sampled == 0; }
};

/// Computes the virial ratio. `gravity`: G in the units of the bodies. `softening` is Plummer's, >= 0; if 0, pairs at
/// one place are left out. Sums all pairs if there are at most `most_pairs`. Otherwise sums that many: half of them
/// with the heaviest bodies, half among a sample of the others, drawn with a probability proportional to mass (Hansen
/// and Hurwitz, On the Theory of Sampling from Finite Populations, 1943).
VirialRatio virial_ratio(const Bodies& bodies, double gravity, double softening, std::int64_t most_pairs = 400'000'000);

}  // namespace orrery
