#pragma once

#include "compute/core/bodies.h"
#include "tests/compute/support/random_ball.h"

namespace orrery::test {

inline Bodies coincident(int count) {
  Bodies bodies = random_ball(count);
  for (Vec4& body : bodies.positions) body = {1, 2, 3, body.w};
  return bodies;
}

inline Bodies collinear(int count) {
  Bodies bodies = random_ball(count);
  for (Vec4& body : bodies.positions) body = {body.x, 2, 3, body.w};
  return bodies;
}

/// All in a small part of the tree's cube but one.
inline Bodies lopsided(int count) {
  Bodies bodies = random_ball(count);
  bodies.positions.front() = {50, 50, 50, bodies.positions.front().w};
  return bodies;
}

inline Bodies massless(int count) {
  Bodies bodies = random_ball(count);
  for (Vec4& body : bodies.positions) body.w = 0;
  return bodies;
}

}  // namespace orrery::test
