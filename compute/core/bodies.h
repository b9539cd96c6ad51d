#pragma once

#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// The state of a system in host memory, in units of G = 1. Both arrays have one entry a body, in the order in which
/// the bodies are drawn, selected and saved.
struct Bodies {
  std::vector<Vec4> positions;   ///< x, y, z and the mass (> 0) in w
  std::vector<Vec4> velocities;  ///< vx, vy, vz; w is unused and zero

  int count() const noexcept { return static_cast<int>(positions.size()); }
  friend bool operator==(const Bodies&, const Bodies&) = default;
};

}  // namespace orrery
