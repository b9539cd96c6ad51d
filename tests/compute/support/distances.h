#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "compute/core/bodies.h"

namespace orrery::test {

/// The greatest distance between where both have a body.
inline double apart(const Bodies& a, const Bodies& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    const Vec4 &p = a.positions[i], &q = b.positions[i];
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
