#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// A body in double precision: differences of positions and velocities of close bodies keep their digits.
struct alignas(16) PreciseBody {
  Vec3d position;
  double mass = 0;
  Vec3d velocity;
};

/// A body of floats, with the mass in w.
ORRERY_HD inline PreciseBody at_rest(const Vec4& body) {
  return {{body.x, body.y, body.z}, body.w, {}};
}

/// The acceleration of a body and its derivative in time, the jerk.
struct Pull {
  Vec3d acceleration, jerk;
};

}  // namespace orrery
