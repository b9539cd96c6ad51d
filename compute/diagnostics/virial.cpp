#include "compute/diagnostics/virial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "compute/core/threads.h"
#include "compute/diagnostics/columns.h"

namespace orrery {
namespace {

/// Sum of m / r over bodies first to before last, at the place of body i, which is not among them.
double potential_at(const Columns& bodies, std::size_t i, std::size_t first, std::size_t last, double softening_sq) {
  const double *const xs = bodies.x.data(), *const ys = bodies.y.data(), *const zs = bodies.z.data(),
                      *const masses = bodies.mass.data();
  const double x = xs[i], y = ys[i], z = zs[i];
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = first; j < last; ++j) {
    const double dx = xs[j] - x, dy = ys[j] - y, dz = zs[j] - z;
    const double distance_sq = dx * dx + dy * dy + dz * dz + softening_sq;
    sum += distance_sq > 0 ? masses[j] / std::sqrt(distance_sq) : 0;
  }
  return sum;
}

/// Twice the kinetic energy in the frame of the centre of mass.
double twice_kinetic(const Columns& bodies, const Columns& velocities) {
  double mass = 0;
  Vec3d mean;
  for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
    const double m = bodies.mass[i];
    mass += m;
    mean = {mean.x + m * velocities.x[i], mean.y + m * velocities.y[i], mean.z + m * velocities.z[i]};
  }
  mean = {mean.x / mass, mean.y / mass, mean.z / mass};
  double sum = 0;
  for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
    const double x = velocities.x[i] - mean.x, y = velocities.y[i] - mean.y, z = velocities.z[i] - mean.z;
    sum += bodies.mass[i] * (x * x + y * y + z * z);
  }
  return sum;
}

/// Calls value(i) for each row on threads, and returns what it returned, in order.
template <class Value>
std::vector<double> each_of(std::size_t rows, const Value& value) {
  std::vector<double> values(rows);
  for_each_chunk(static_cast<int>(rows), 8, usable_threads(), nullptr, [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) values[i] = value(i);
  });
  return values;
}

/// The positions with the `heavy` heaviest bodies first.
std::vector<Vec4> heaviest_first(const Bodies& bodies, std::size_t heavy, std::vector<Vec4>& low) {
  std::vector<std::size_t> order(bodies.positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(heavy), std::ranges::greater{},
                           [&](std::size_t i) { return bodies.positions[i].w; });
  std::vector<Vec4> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(bodies.positions[i]);
  for (std::size_t k = 0; k < order.size() && bodies.digits() == Digits::compensated; ++k) {
    low.push_back(bodies.positions_low[order[k]]);
  }
  return sorted;
}

/// Numbers from 0 to 1 that are the same on every machine (SplitMix64: Steele, Lea and Flood, 2014).
class Draws {
 public:
  double next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 1;
};

/// Bodies from `first` on, drawn with a probability that goes as their mass: one of each stratum of equal mass.
std::vector<std::size_t> drawn_by_mass(const std::vector<double>& masses, std::size_t first, std::size_t count,
                                       double total) {
  Draws draws;
  std::vector<std::size_t> drawn;
  double before = 0;
  std::size_t body = first;
  for (std::size_t k = 0; k < count; ++k) {
    const double wanted = (static_cast<double>(k) + draws.next()) / static_cast<double>(count) * total;
    while (body + 1 < masses.size() && before + masses[body] < wanted) before += masses[body++];
    drawn.push_back(body);
  }
  return drawn;
}

}  // namespace

VirialRatio virial_ratio(const Bodies& bodies, double gravity, double softening, std::int64_t most_pairs) {
  const std::size_t count = bodies.positions.size();
  const double softening_sq = softening * softening;
  const double pairs = static_cast<double>(count) * static_cast<double>(count) / 2;
  const double kinetic =
      twice_kinetic(Columns{bodies.positions, bodies.positions_low}, Columns{bodies.velocities, bodies.velocities_low});
  const bool all = pairs <= static_cast<double>(most_pairs);
  const auto share = std::max<std::size_t>(static_cast<std::size_t>(most_pairs) / (2 * count), 32);
  const std::size_t heavy = all ? count : std::min(share, count - 1);
  std::vector<Vec4> low;
  const std::vector<Vec4> sorted = all ? bodies.positions : heaviest_first(bodies, heavy, low);
  const Columns columns{sorted, all ? bodies.positions_low : low};

  // Each pair once: body i with those behind it.
  const std::vector<double> of_heavy = each_of(
      heavy, [&](std::size_t i) { return columns.mass[i] * potential_at(columns, i, i + 1, count, softening_sq); });
  double potential = std::accumulate(of_heavy.begin(), of_heavy.end(), 0.0);
  VirialRatio found{.heavy = static_cast<int>(heavy)};
  double deviation = 0;
  if (!all) {
    const double rest =
        std::accumulate(columns.mass.begin() + static_cast<std::ptrdiff_t>(heavy), columns.mass.end(), 0.0);
    const std::vector<std::size_t> drawn = drawn_by_mass(columns.mass, heavy, share, rest);
    const std::vector<double> at = each_of(share, [&](std::size_t k) {
      const std::size_t i = drawn[k];
      return potential_at(columns, i, heavy, i, softening_sq) + potential_at(columns, i, i + 1, count, softening_sq);
    });
    const auto number = static_cast<double>(share);
    const double mean = std::accumulate(at.begin(), at.end(), 0.0) / number;
    double square = 0;
    for (const double value : at) square += (value - mean) * (value - mean);
    potential += rest / 2 * mean;
    deviation = rest / 2 * std::sqrt(square / (number - 1) / number);
    found.sampled = static_cast<int>(share);
  }
  found.ratio = potential > 0 ? kinetic / (gravity * potential) : std::numeric_limits<double>::quiet_NaN();
  found.error = 2 * found.ratio * deviation / potential;
  return found;
}

}  // namespace orrery
