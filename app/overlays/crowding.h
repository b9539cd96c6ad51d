#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "render/camera.h"

namespace orrery {

/// Something in the world, and how much of it there is.
struct Amount {
  glm::vec3 place;
  float amount;
};

/// How much the camera sees around each place: the mean per square whose side is `side` of the picture's height; 0 for
/// a place that is not in front of it. Changes smoothly as places and camera move.
std::vector<float> crowd_around(std::span<const Amount> amounts, const render::OrbitCamera& camera, float side);

}  // namespace orrery
