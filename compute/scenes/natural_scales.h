#pragma once

#include "compute/core/bodies.h"

namespace orrery {

/// A time step and a softening that suit bodies of which nothing else is known.
struct NaturalScales {
  float time_step;
  float softening;
};

/// Both follow the densest region, where errors grow first: of 64 balls around bodies that each hold a tenth of all
/// bodies, the smallest. r is its radius, M its mass, d its mean distance of neighbours; v is the rms speed of all
/// bodies in the frame of their centre of mass.
///   softening = d / 2,  time_step = min(0.06 sqrt(r^3 / M), 0.4 softening / max(v, sqrt(M / r))).
/// If these are not usable (one body, or all at one point), softening = 0.02 and time_step = 0.005.
NaturalScales natural_scales(const Bodies& bodies);

}  // namespace orrery
