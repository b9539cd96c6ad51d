#pragma once

#include "compute/core/bodies.h"
#include "compute/core/vec.h"
#include "tests/test.h"

namespace orrery::test {

inline double distance(const Vec4& a, const Vec4& b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
}

inline double distance(const Vec3d& a, const Vec3d& b) {
  return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
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
    const double here = distance(position(a, i), position(b, i));
    if (!(here <= most)) most = here;
  }
  return most;
}

inline void expect_equal_masses(const Bodies& a, const Bodies& b) {
  ASSERT_EQ(a.count(), b.count());
  for (std::size_t i = 0; i < a.positions.size(); ++i) ASSERT_EQ(a.positions[i].w, b.positions[i].w) << i;
}

}  // namespace orrery::test
