#pragma once

#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// Bodies in double precision, one array per quantity, so that the compiler can sum over them with SIMD.
struct Columns {
  std::vector<double> x, y, z, mass;

  explicit Columns(std::span<const Vec4> bodies) {
    for (auto* column : {&x, &y, &z, &mass}) column->reserve(bodies.size());
    for (const Vec4& body : bodies) {
      x.push_back(body.x);
      y.push_back(body.y);
      z.push_back(body.z);
      mass.push_back(body.w);
    }
  }
};

}  // namespace orrery
