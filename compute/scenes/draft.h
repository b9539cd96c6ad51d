#pragma once

#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"

namespace orrery {

/// A body while its scene is being made: in double precision, so that the result is rounded only once.
struct DraftBody {
  double mass;
  Vec3d position;
  Vec3d velocity;
};
using Draft = std::vector<DraftBody>;

/// Moves the centre of mass to the origin and to rest, and rounds to float.
Bodies finished(Draft draft);

}  // namespace orrery
