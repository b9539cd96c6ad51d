#pragma once

#include "compute/core/vec.h"
#include "compute/scenes/galaxy.h"

namespace orrery {

/// A rotation by rational sines and cosines: first about x, then about z.
struct Tilt {
  double cos_x, sin_x, cos_z, sin_z;
  Vec3d operator()(Vec3d p) const {
    const Vec3d tipped{p.x, p.y * cos_x - p.z * sin_x, p.y * sin_x + p.z * cos_x};
    return {tipped.x * cos_z - tipped.y * sin_z, tipped.x * sin_z + tipped.y * cos_z, tipped.z};
  }
};

/// Two galaxies of total mass 1 on a parabolic orbit of point masses in the plane z = 0, before they meet. Both discs
/// rotate in the direction of the orbit, which makes long tails (Toomre and Toomre 1972).
struct Encounter {
  Galaxy first, second;
  Tilt first_tilt, second_tilt;  ///< to the orbit
  double start_distance;
  double closest_distance;  ///< less than start_distance
};

/// Makes the bodies: `in_first` of the first galaxy at the origin, then `in_second` of the second.
Draft encounter(const Encounter& design, int in_first, int in_second, Random& random);

}  // namespace orrery
