#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// The state of a system in host memory, in units of G = 1. Both arrays have one entry per body, in the order in which
/// the bodies are drawn, selected and saved.
struct Bodies {
  std::vector<Vec4> positions;   ///< x, y, z and the mass (> 0) in w
  std::vector<Vec4> velocities;  ///< vx, vy, vz; w is unused and zero

  int count() const noexcept { return static_cast<int>(positions.size()); }
  friend bool operator==(const Bodies&, const Bodies&) = default;
};

/// The masses of a system, all > 0. Steps leave them as they are.
struct MassRange {
  float least = 0, greatest = 0;
  bool equal() const noexcept { return least == greatest; }
  friend bool operator==(const MassRange&, const MassRange&) = default;
};

/// The masses in w of these positions; {0, 0} if there are none.
inline MassRange mass_range(std::span<const Vec4> positions) {
  if (positions.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax(positions, {}, &Vec4::w);
  return {least.w, greatest.w};
}

}  // namespace orrery
