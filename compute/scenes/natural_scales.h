#pragma once

#include "compute/core/bodies.h"

namespace orrery {

/// A time step and a softening that suit bodies of which nothing else is known.
struct NaturalScales {
  float time_step;
  float softening;
};

/// Both follow the densest region, since errors grow there first: of the balls around 64 of the bodies that each hold a
/// tenth of all, the smallest. With r its radius, M the mass in it, d the mean distance of neighbours in it and v the
/// rms speed of all bodies in the frame of their centre of mass:
///   softening = d / 2,  time_step = min(0.06 sqrt(r^3 / M), 0.4 softening / max(v, sqrt(M / r))).
/// Where that is no number (one body, or all at one point) they are 0.02 and 0.005.
NaturalScales natural_scales(const Bodies& bodies);

}  // namespace orrery
