#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/core/vec.h"

namespace orrery {

/// Between which numbers those of bodies are.
struct BodyBounds {
  bool finite = true;  ///< all numbers; otherwise the others are of no use
  float least_mass = std::numeric_limits<float>::max(), greatest_mass = std::numeric_limits<float>::lowest();
  float farthest = 0, fastest = 0;  ///< the largest component of a position or velocity, as a magnitude

  void add(const Vec4& position, const Vec4& velocity) {
    const auto largest = [&](float& of_all, const Vec4& v) {
      for (const float component : {v.x, v.y, v.z}) {
        finite = finite && std::isfinite(component);
        of_all = std::max(of_all, std::abs(component));
      }
    };
    largest(farthest, position);
    largest(fastest, velocity);
    finite = finite && std::isfinite(position.w) && std::isfinite(velocity.w);
    least_mass = std::min(least_mass, position.w);
    greatest_mass = std::max(greatest_mass, position.w);
  }
  void add(const BodyBounds& others) {
    finite = finite && others.finite;
    least_mass = std::min(least_mass, others.least_mass);
    greatest_mass = std::max(greatest_mass, others.greatest_mass);
    farthest = std::max(farthest, others.farthest);
    fastest = std::max(fastest, others.fastest);
  }
};

}  // namespace orrery
