#pragma once

#include <glm/glm.hpp>

#include "compute/core/bodies.h"
#include "render/body_renderer.h"

namespace orrery {

/// Where to look and what colours stand for, so that a scene is seen well at its first frame.
struct Framing {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< holds 95 % of the bodies, all of up to 64, with a margin; > 0
  render::ValueRanges ranges;
};

/// Looks at percentiles, so that a few bodies far out or very fast change little.
Framing framing_of(const Bodies& bodies);

}  // namespace orrery
