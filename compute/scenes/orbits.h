#pragma once

#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

/// A body that orbits a heavier one, by the two alone. Lengths and times in units of G = 1.
struct Orbit {
  int body = 0, around = 0;
  double size = 0;  ///< distance of the pericentre; of a nearly radial orbit, a fiftieth of the semi-major axis
  double time = 0;  ///< period of a circular orbit of this size
};

/// The bound orbits that the rest of the system does not disturb much, the smallest first: around one of the 16
/// heaviest bodies (in a system of more than 16, if it has ten median masses), where those nearer to it have less than
/// half of the pair's mass; and of nearest neighbours, where the next body is eight times as far and the tide of the
/// heaviest bodies is weaker than the pair's own pull. Neighbours are looked for among at most 262,144 bodies.
std::vector<Orbit> bound_orbits(const Bodies& bodies);

}  // namespace orrery
