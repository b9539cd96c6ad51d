#include "compute/diagnostics/conserved.h"

#include <vector>

namespace orrery {
namespace {

/// Half of body i's potential energy: each pair once, when summed over all bodies. The force of a pair is that of
/// pair_law.inl, whose factor m / s^3 (1 - H / s^2) with s^2 = r^2 + eps^2 is the slope of -1 / s + H / (3 s^3).
double half_potential(const std::vector<Vec4>& positions, std::size_t i, const Law& law) {
  const double softening_sq = static_cast<double>(law.softening) * static_cast<double>(law.softening);
  const double repulsion = law.id == LawId::attract_repel ? static_cast<double>(law.repulsion) : 0;
  const Vec4& body = positions[i];
  const auto pull_of = [&](const Vec4& other) {
    const double dx = static_cast<double>(other.x) - body.x, dy = static_cast<double>(other.y) - body.y,
                 dz = static_cast<double>(other.z) - body.z;
    const double inverse = reciprocal_sqrt(dx * dx + dy * dy + dz * dz + softening_sq);
    return other.w * inverse * (repulsion / 3 * inverse * inverse - 1);
  };
  double sum = 0;
  for (std::size_t j = 0; j < i; ++j) sum += pull_of(positions[j]);
  return body.w * sum;
}

}  // namespace

Conserved conserved(const Bodies& bodies, const Law& law) {
  const auto count = bodies.positions.size();
  std::vector<double> potentials(count);  // summed in order below, so that the result is the same for any threads
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < count; ++i) potentials[i] = half_potential(bodies.positions, i, law);

  Conserved sums;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec4& p = bodies.positions[i];
    const Vec4& v = bodies.velocities[i];
    const double m = p.w, x = p.x, y = p.y, z = p.z, vx = v.x, vy = v.y, vz = v.z;
    sums.potential += potentials[i];
    sums.kinetic += m / 2 * (vx * vx + vy * vy + vz * vz);
    sums.momentum = {sums.momentum.x + m * vx, sums.momentum.y + m * vy, sums.momentum.z + m * vz};
    sums.angular_momentum.x += m * (y * vz - z * vy);
    sums.angular_momentum.y += m * (z * vx - x * vz);
    sums.angular_momentum.z += m * (x * vy - y * vx);
  }
  return sums;
}

}  // namespace orrery
