#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "compute/core/vec.h"

namespace orrery {

ORRERY_HD inline bool is_finite(const Vec4& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
}

ORRERY_HD inline bool is_finite(const Vec4& position, const Vec4& velocity) {
  return is_finite(position) && is_finite(velocity);
}

/// The first body whose position, mass or velocity is infinite or NaN; -1 where there is none.
inline int first_not_finite(std::span<const Vec4> positions, std::span<const Vec4> velocities) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!is_finite(positions[i], velocities[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace orrery
