#pragma once

#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy_model.h"
#include "compute/scenes/random.h"

namespace orrery {

/// A galaxy of a disc, a bulge and a halo, all made of bodies. G = 1.
struct Galaxy {
  double mass;          ///< of all three together
  double scale_length;  ///< of the exponential disc, which reaches 6 of them
  double softening;     ///< of the force that the galaxy is to be in equilibrium under
  GalaxyDesign design = warm_disc_design;
};

/// How many of a galaxy's `count` bodies are its disc's; they come first.
int disc_count(const GalaxyDesign& design, int count);

/// Appends `count` bodies, centred on the origin, the disc turning counter-clockwise in the plane z = 0. Positions
/// follow the densities exactly; velocities are Gaussian with the dispersions that keep each part in equilibrium to
/// first order, after Hernquist 1993 (ApJS 86, 389).
void append_galaxy(Draft& draft, const Galaxy& galaxy, int count, Random& random);

}  // namespace orrery
