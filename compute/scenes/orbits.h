#pragma once

#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

/// A body that orbits a heavier one, by the two alone. Lengths and times in units of G = 1.
struct Orbit {
  int body = 0, around = 0;
  double size = 0;     ///< distance of the pericentre; of a fall, a fiftieth of the semi-major axis
  double time = 0;     ///< period of a circular orbit of this size
  double binding = 0;  ///< the energy that parts the two, m1 m2 / 2a
};

/// Returns the bound orbits that the rest of the system hardly disturbs, the smallest first. There are two kinds:
///  - Orbits around one of the 16 heaviest bodies, if the bodies nearer to it have less than half of the pair's mass.
///    In a system of more than 16 bodies, it must have ten median masses.
///  - Orbits of nearest neighbours among at most 262,144 bodies, if the next body is eight times as far, and the tide
///    of the heaviest bodies is weaker than the pair's own pull.
std::vector<Orbit> bound_orbits(const Bodies& bodies);

}  // namespace orrery
