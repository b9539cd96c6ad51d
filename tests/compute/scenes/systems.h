#pragma once

#include "compute/core/bodies.h"
#include "tests/test.h"

namespace orrery::test {

inline float single(double value) {
  return static_cast<float>(value);
}

/// The Sun and eight planets on circular orbits, in AU, solar masses and AU / (yr / 2 pi), so that G = 1.
inline Bodies solar_system() {
  constexpr std::array axes{0.387, 0.723, 1.0, 1.524, 5.203, 9.58, 19.2, 30.1};
  constexpr std::array masses{1.66e-7, 2.45e-6, 3e-6, 3.2e-7, 9.55e-4, 2.86e-4, 4.37e-5, 5.15e-5};
  Bodies bodies{{{0, 0, 0, 1}}, {{0, 0, 0, 0}}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double angle = 1.1 * static_cast<double>(i + 1), speed = 1 / std::sqrt(axes[i]);
    bodies.positions.push_back(
        {single(axes[i] * std::cos(angle)), single(axes[i] * std::sin(angle)), 0, single(masses[i])});
    bodies.velocities.push_back({single(-speed * std::sin(angle)), single(speed * std::cos(angle)), 0, 0});
  }
  return bodies;
}

/// A star of mass 1 as body `place` and `count` light bodies on circular orbits of 0.5 to 5 around it.
inline Bodies star_with_disc(int count, int place) {
  Bodies bodies;
  for (int i = 0; i <= count; ++i) {
    if (i == place) {
      bodies.positions.push_back({0, 0, 0, 1});
      bodies.velocities.emplace_back();
      continue;
    }
    const double axis = 0.5 + 4.5 * i / count, angle = 2.4 * i, speed = 1 / std::sqrt(axis);
    bodies.positions.push_back(
        {single(axis * std::cos(angle)), single(axis * std::sin(angle)), 0, single(1e-3 / count)});
    bodies.velocities.push_back({single(-speed * std::sin(angle)), single(speed * std::cos(angle)), 0, 0});
  }
  return bodies;
}

inline Bodies scaled(Bodies bodies, double length, double speed) {
  for (Vec4& p : bodies.positions) p = {single(p.x * length), single(p.y * length), single(p.z * length), p.w};
  for (Vec4& v : bodies.velocities) v = {single(v.x * speed), single(v.y * speed), single(v.z * speed), 0};
  return bodies;
}

}  // namespace orrery::test
