#include "compute/scenes/force_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/core/force_law.h"

namespace orrery {
namespace {

constexpr std::size_t most_targets = 32, most_sources = 65536;  // more would change little

/// The share of the pulls on body `target` that single precision loses, weighted by their magnitude.
double lost_share(const std::vector<Vec4>& bodies, std::size_t target, double softening) {
  constexpr double smallest = std::numeric_limits<float>::min();
  const Gravity<double> law{softening * softening};
  const std::size_t sources = std::min(bodies.size(), most_sources);
  double lost = 0, all = 0;
  for (std::size_t i = 0; i < sources; ++i) {
    const Vec4& source = bodies[i * bodies.size() / sources];
    const double dx = static_cast<double>(source.x) - bodies[target].x;
    const double dy = static_cast<double>(source.y) - bodies[target].y;
    const double dz = static_cast<double>(source.z) - bodies[target].z;
    const double distance = std::sqrt(dx * dx + dy * dy + dz * dz);
    const double factor = law.factor(dx, dy, dz, static_cast<double>(source.w));
    const double pull = factor * distance;
    all += pull;
    if (!(factor >= smallest && pull >= smallest)) lost += pull;
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace

bool forces_underflow(const Bodies& bodies, float softening) {
  const std::size_t targets = std::min(bodies.positions.size(), most_targets);
  std::size_t without_force = 0;
  for (std::size_t i = 0; i < targets; ++i) {
    const std::size_t target = i * bodies.positions.size() / targets;
    if (!(lost_share(bodies.positions, target, softening) <= 0.5)) ++without_force;
  }
  return 2 * without_force > targets;
}

}  // namespace orrery
