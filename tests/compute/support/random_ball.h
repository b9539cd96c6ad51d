#pragma once

#include <cmath>
#include <random>

#include "compute/core/bodies.h"

namespace orrery::test {

/// `count` bodies of unequal mass, total mass 1, spread like a Plummer sphere of scale length 1 cut at radius 10, with
/// random velocities. The same bodies for the same arguments, as far as one standard library goes.
inline Bodies random_ball(int count, unsigned seed = 1) {
  std::mt19937 generator{seed};
  std::uniform_real_distribution<double> uniform{0.0, 1.0};
  std::normal_distribution<double> normal;
  Bodies bodies;
  while (bodies.count() < count) {
    const double radius = 1 / std::sqrt(std::pow(1 - uniform(generator), -2.0 / 3) - 1);
    if (!(radius < 10)) continue;
    const double x = normal(generator), y = normal(generator), z = normal(generator);
    const double scale = radius / std::sqrt(x * x + y * y + z * z);
    const double mass = (0.5 + uniform(generator)) / count;
    bodies.positions.push_back({static_cast<float>(x * scale), static_cast<float>(y * scale),
                                static_cast<float>(z * scale), static_cast<float>(mass)});
    const auto speed = [&] { return static_cast<float>(0.3 * normal(generator)); };
    const float vx = speed(), vy = speed(), vz = speed();
    bodies.velocities.push_back({vx, vy, vz, 0});
  }
  return bodies;
}

}  // namespace orrery::test
