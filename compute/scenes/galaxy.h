#pragma once

#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy_model.h"
#include "compute/scenes/parts.h"
#include "compute/scenes/random.h"

namespace orrery {

/// A galaxy of a disc, a bulge and a halo, all made of bodies. G = 1.
struct Galaxy {
  double mass;          ///< of all three together
  double scale_length;  ///< of the exponential disc, which ends at 6 scale lengths
  double softening;     ///< of the force in which the galaxy is in equilibrium
  GalaxyDesign design = warm_disc_design;
};

/// How many of a galaxy's `count` bodies are its disc's; they come first.
int disc_count(const GalaxyDesign& design, int count);

/// The disc, the bulge and the halo of a galaxy of `count` bodies.
Parts galaxy_parts(const GalaxyDesign& design, int count);

/// Appends `count` bodies, centred on the origin. The disc rotates counter-clockwise in the plane z = 0. Positions
/// follow the densities, but for the seed waves of the disc. Velocities are Gaussian with the dispersions that keep
/// each part in equilibrium to first order (Hernquist 1993, ApJS 86, 389), but for those of a StationaryDisc.
void append_galaxy(Draft& draft, const Galaxy& galaxy, int count, Random& random);

}  // namespace orrery
