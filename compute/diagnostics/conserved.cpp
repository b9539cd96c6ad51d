#include "compute/diagnostics/conserved.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

/// Returns the potential energy of body i with all bodies before it, so that the sum over all bodies counts each pair
/// once. The force of a pair is that of pair_law.inl: its factor m / s^3 (1 - H / s^2) with s^2 = r^2 + eps^2 is the
/// slope of -1 / s + H / (3 s^3).
double potential_with_earlier(const PreciseColumns& bodies, std::size_t i, const Law& law) {
  const double softening_sq = static_cast<double>(law.softening) * static_cast<double>(law.softening);
  const double repulsion = law.id == LawId::attract_repel ? static_cast<double>(law.repulsion) : 0;
  const double* const xs = bodies.x.data();
  const double* const ys = bodies.y.data();
  const double* const zs = bodies.z.data();
  const double* const masses = bodies.mass.data();
  const double x = xs[i], y = ys[i], z = zs[i];
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = 0; j < i; ++j) {
    const double dx = xs[j] - x, dy = ys[j] - y, dz = zs[j] - z;
    const double inverse = reciprocal_sqrt(dx * dx + dy * dy + dz * dz + softening_sq);
    sum += masses[j] * inverse * (repulsion / 3 * inverse * inverse - 1);
  }
  return masses[i] * sum;
}

}  // namespace

std::vector<double> potentials_with_earlier(std::span<const Vec4> positions, std::span<const Vec4> low, int first,
                                            int last, const Law& law, const std::atomic<bool>* cancelled) {
  const PreciseColumns columns{positions, low};
  std::vector<double> found(static_cast<std::size_t>(last - first));
  for_each_chunk(last - first, 64, usable_threads(), cancelled, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      if (cancelled && *cancelled) return;
      found[static_cast<std::size_t>(row)] =
          potential_with_earlier(columns, static_cast<std::size_t>(first + row), law);
    }
  });
  return found;
}

Conserved conserved(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled) {
  return conserved_with(
      bodies, potentials_with_earlier(bodies.positions, bodies.positions_low, 0, bodies.count(), law, cancelled));
}

double Conserved::virial_ratio() const {
  const double moving =
      mass > 0 ? (momentum.x * momentum.x + momentum.y * momentum.y + momentum.z * momentum.z) / mass : 0;
  return std::max(2 * kinetic - moving, 0.0) / std::abs(potential);
}

/// Adds in the order of the bodies, so that the result does not depend on the number of threads and ranks.
Conserved conserved_with(const Bodies& bodies, std::span<const double> potentials) {
  const PreciseColumns columns{bodies.positions, bodies.positions_low};
  const PreciseColumns velocities{bodies.velocities, bodies.velocities_low};
  Conserved sums;
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double m = columns.mass[i], x = columns.x[i], y = columns.y[i], z = columns.z[i];
    const double vx = velocities.x[i], vy = velocities.y[i], vz = velocities.z[i];
    sums.mass += m;
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
