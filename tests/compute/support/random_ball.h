#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

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

inline Bodies with_equal_masses(Bodies bodies) {
  for (Vec4& body : bodies.positions) body.w = 1.0f / static_cast<float>(bodies.count());
  return bodies;
}

inline Bodies at_rest(std::vector<Vec4> positions) {
  std::vector<Vec4> velocities(positions.size());
  return {std::move(positions), std::move(velocities)};
}

/// Two bodies of mass 1/2 with semi-major axis 1, at the largest distance. Their period is 2 pi.
inline Bodies pair_on_ellipse(double eccentricity) {
  const auto x = static_cast<float>((1 + eccentricity) / 2);
  const auto v = static_cast<float>(std::sqrt((1 - eccentricity) / (1 + eccentricity)) / 2);
  return {{{x, 0, 0, 0.5f}, {-x, 0, 0, 0.5f}}, {{0, v, 0, 0}, {0, -v, 0, 0}}};
}

/// `size` different bodies below `count`, in random order.
inline std::vector<int> random_targets(int count, int size, unsigned seed = 7) {
  std::vector<int> targets(static_cast<std::size_t>(count));
  std::iota(targets.begin(), targets.end(), 0);
  std::ranges::shuffle(targets, std::mt19937{seed});
  targets.resize(static_cast<std::size_t>(size));
  return targets;
}

}  // namespace orrery::test
