#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"

namespace orrery::test {

inline double distance(const Vec4& a, const Vec4& b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
}

/// A body's position with its low word, if the bodies have those.
inline Vec3d position(const Bodies& bodies, std::size_t i) {
  const bool has_low = bodies.digits() == Digits::compensated;
  return joined<double>(bodies.positions[i], has_low ? bodies.positions_low[i] : Vec4{});
}

/// The greatest distance between where both have a body; NaN where one has none.
inline double apart(const Bodies& a, const Bodies& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    const Vec3d p = position(a, i), q = position(b, i);
    const double distance = std::hypot(p.x - q.x, p.y - q.y, p.z - q.z);
    if (!(distance <= most)) most = distance;
  }
  return most;
}

inline void expect_equal_masses(const Bodies& a, const Bodies& b) {
  ASSERT_EQ(a.count(), b.count());
  for (std::size_t i = 0; i < a.positions.size(); ++i) ASSERT_EQ(a.positions[i].w, b.positions[i].w) << i;
}

}  // namespace orrery::test
