#pragma once

#include <array>
#include <glm/glm.hpp>
#include <map>
#include <utility>

#include "render/camera.h"

namespace orrery {

/// How much of something is seen around a place. Changes smoothly as places and camera move.
class Crowding {
 public:
  /// Counts in squares whose side is `side` of the picture's height.
  Crowding(const render::OrbitCamera& camera, float side) : camera_{camera}, side_{side} {}

  void add(glm::vec3 place, float amount);
  /// The mean amount per square around the place; 0 if it is not in front of the camera.
  float around(glm::vec3 place) const;

 private:
  using Square = std::pair<int, int>;
  struct Share {
    Square square;
    float weight;
  };
  /// Of the four squares whose middles are nearest; no weight where the place is not seen.
  std::array<Share, 4> shares_of(glm::vec3 place) const;

  render::OrbitCamera camera_;
  float side_;
  std::map<Square, float> amounts_;
};

}  // namespace orrery
