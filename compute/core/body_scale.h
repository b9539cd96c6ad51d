#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// The factors from numbers of bodies in some units to those in others.
struct BodyScale {
  double length = 1, mass = 1, velocity = 1;

  /// With the mass in w.
  Vec4 of_position(const Vec4& p) const {
    return {static_cast<float>(p.x * length), static_cast<float>(p.y * length), static_cast<float>(p.z * length),
            static_cast<float>(p.w * mass)};
  }
  Vec4 of_velocity(const Vec4& v) const {
    return {static_cast<float>(v.x * velocity), static_cast<float>(v.y * velocity), static_cast<float>(v.z * velocity),
            0};
  }
};

}  // namespace orrery
