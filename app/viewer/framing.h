#pragma once

#include <glm/glm.hpp>
#include <optional>

#include "compute/core/bodies.h"
#include "render/drawn_bodies.h"

namespace orrery {

/// What the picture is to hold.
struct Ball {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< > 0
};

/// The camera's target and the ranges of the colours that suit a scene.
struct Framing {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< holds 95 % of the bodies, all of up to 64, with a margin; > 0
  Ball all;             ///< holds every body whose place is finite, with a margin
  render::ValueRanges ranges;
  std::optional<float> only_mass{};  ///< of all bodies; none: they have several
};

/// From percentiles but for `all`, so that a few distant or very fast bodies change little.
Framing framing_of(const Bodies& bodies);

}  // namespace orrery
