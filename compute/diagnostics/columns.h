#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// Bodies in double precision, one array per quantity, so that the compiler can sum over them with SIMD.
struct Columns {
  std::vector<double> x, y, z, mass;

  /// `low`: the low words of the coordinates; empty: they have none.
  explicit Columns(std::span<const Vec4> bodies, std::span<const Vec4> low) {
    for (auto* column : {&x, &y, &z, &mass}) column->reserve(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Vec3d at = joined<double>(bodies[i], low.empty() ? Vec4{} : low[i]);
      x.push_back(at.x);
      y.push_back(at.y);
      z.push_back(at.z);
      mass.push_back(bodies[i].w);
    }
  }
};

}  // namespace orrery
