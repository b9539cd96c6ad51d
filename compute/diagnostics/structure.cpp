#include "compute/diagnostics/structure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

/// Returns the sum of m / r over the bodies in [first, last), at the position of body i, which is not one of them.
double potential_at(const PreciseColumns& bodies, std::size_t i, std::size_t first, std::size_t last,
                    double softening_sq) {
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

/// Returns twice the kinetic energy in the frame of the centre of mass.
double twice_kinetic(const PreciseColumns& bodies, const PreciseColumns& velocities) {
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

/// Calls value(i) for each row i on several threads, and returns the results in order.
template <class Value>
std::vector<double> each_of(std::size_t rows, const Value& value) {
  std::vector<double> values(rows);
  for_each_chunk(static_cast<int>(rows), 8, usable_threads(), nullptr, [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) values[i] = value(i);
  });
  return values;
}

/// Returns the positions with the `heavy` heaviest bodies first, and fills `low` with their low words.
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

/// Random numbers from 0 to 1 that are the same on every machine (SplitMix64: Steele, Lea and Flood, 2014).
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

/// Draws `count` bodies from `first` on with a probability proportional to their mass: one from each stratum of equal
/// mass. `total`: mass of all these bodies.
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
  const double kinetic = twice_kinetic(PreciseColumns{bodies.positions, bodies.positions_low},
                                       PreciseColumns{bodies.velocities, bodies.velocities_low});
  const bool all = pairs <= static_cast<double>(most_pairs);
  const auto share = std::max<std::size_t>(static_cast<std::size_t>(most_pairs) / (2 * count), 32);
  const std::size_t heavy = all ? count : std::min(share, count - 1);
  std::vector<Vec4> low;
  const std::vector<Vec4> sorted = all ? bodies.positions : heaviest_first(bodies, heavy, low);
  const PreciseColumns columns{sorted, all ? bodies.positions_low : low};

  // Pairs body i with all bodies after it, so that each pair counts once.
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

std::vector<double> lagrangian_radii(const Bodies& bodies, std::span<const double> shares) {
  double mass = 0;
  Vec3d centre;
  for (const Vec4& p : bodies.positions) {
    mass += p.w;
    centre.x += double{p.w} * p.x;
    centre.y += double{p.w} * p.y;
    centre.z += double{p.w} * p.z;
  }
  std::vector<double> radii(shares.size(), std::numeric_limits<double>::quiet_NaN());
  if (!(mass > 0) || !std::isfinite(centre.x + centre.y + centre.z)) return radii;
  std::vector<std::pair<double, double>> squares_and_masses;
  squares_and_masses.reserve(bodies.positions.size());
  for (const Vec4& p : bodies.positions) {
    const double x = p.x - centre.x / mass, y = p.y - centre.y / mass, z = p.z - centre.z / mass;
    squares_and_masses.emplace_back(x * x + y * y + z * z, p.w);
  }
  std::ranges::sort(squares_and_masses);
  std::size_t share = 0;
  double within = 0;
  for (const auto& [square, of_body] : squares_and_masses) {
    within += of_body;
    while (share < shares.size() && within >= shares[share] * mass) radii[share++] = std::sqrt(square);
  }
  // Rounding may have left `within` too small for the last shares.
  while (share < shares.size()) radii[share++] = std::sqrt(squares_and_masses.back().first);
  return radii;
}

namespace {

constexpr int leaf_size = 12;
constexpr int chunk = 64;  // bodies per chunk of work

struct Point {
  std::array<float, 3> at;
  float mass;
  int body;
};

/// The nearest points found so far, by ascending distance.
class Nearest {
 public:
  explicit Nearest(int wanted) : wanted_{wanted} {}
  float reach_sq() const {
    return held_ < wanted_ ? std::numeric_limits<float>::infinity() : found_[last()].distance_sq;
  }
  void offer(float distance_sq, float mass) {
    if (!(distance_sq < reach_sq())) return;
    std::size_t place = static_cast<std::size_t>(std::min(held_, wanted_ - 1));
    for (; place > 0 && found_[place - 1].distance_sq > distance_sq; --place) found_[place] = found_[place - 1];
    found_[place] = {distance_sq, mass};
    held_ = std::min(held_ + 1, wanted_);
  }
  float density() const {
    double mass = 0;
    for (std::size_t i = 0; i < last(); ++i) mass += found_[i].mass;
    const double radius = std::sqrt(found_[last()].distance_sq);
    return static_cast<float>(mass / (4 * std::numbers::pi / 3 * radius * radius * radius));
  }

 private:
  struct Found {
    float distance_sq, mass;
  };
  std::size_t last() const { return static_cast<std::size_t>(wanted_ - 1); }
  std::array<Found, density_neighbours> found_;
  int wanted_, held_ = 0;
};

/// A balanced k-d tree without pointers: each range of points is halved at the median of its longest side.
class PointTree {
 public:
  PointTree(std::span<const Vec4> positions, const std::atomic<bool>* cancelled) : cancelled_{cancelled} {
    points_.reserve(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const Vec4& p = positions[i];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z) || !std::isfinite(p.w)) continue;
      points_.push_back({{p.x, p.y, p.z}, p.w, static_cast<int>(i)});
    }
    axes_.resize(points_.size());
    build(0, size());
  }

  int size() const { return static_cast<int>(points_.size()); }
  const Point& point(int i) const { return points_[static_cast<std::size_t>(i)]; }

  void search(const Point& from, Nearest& nearest) const { search(from, 0, size(), nearest); }

 private:
  void build(int first, int end) {
    if (end - first <= leaf_size || (cancelled_ && *cancelled_)) return;
    std::array<float, 3> low, high;
    low.fill(std::numeric_limits<float>::infinity());
    high.fill(-std::numeric_limits<float>::infinity());
    for (int i = first; i < end; ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], point(i).at[axis]);
        high[axis] = std::max(high[axis], point(i).at[axis]);
      }
    }
    std::size_t longest = 0;
    for (const std::size_t axis : {1, 2}) {
      if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
    }
    const int middle = first + (end - first) / 2;
    std::nth_element(points_.begin() + first, points_.begin() + middle, points_.begin() + end,
                     [longest](const Point& a, const Point& b) { return a.at[longest] < b.at[longest]; });
    axes_[static_cast<std::size_t>(middle)] = static_cast<unsigned char>(longest);
    build(first, middle);
    build(middle + 1, end);
  }

  void search(const Point& from, int first, int end, Nearest& nearest) const {
    if (end - first <= leaf_size) {
      for (int i = first; i < end; ++i) offer(from, point(i), nearest);
      return;
    }
    const int middle = first + (end - first) / 2;
    const std::size_t axis = axes_[static_cast<std::size_t>(middle)];
    const float beyond = from.at[axis] - point(middle).at[axis];
    const bool upper = beyond > 0;
    upper ? search(from, middle + 1, end, nearest) : search(from, first, middle, nearest);
    offer(from, point(middle), nearest);
    if (!(beyond * beyond < nearest.reach_sq())) return;
    upper ? search(from, first, middle, nearest) : search(from, middle + 1, end, nearest);
  }

  static void offer(const Point& from, const Point& to, Nearest& nearest) {
    if (to.body == from.body) return;
    const float x = to.at[0] - from.at[0], y = to.at[1] - from.at[1], z = to.at[2] - from.at[2];
    nearest.offer(x * x + y * y + z * z, to.mass);
  }

  const std::atomic<bool>* cancelled_;
  std::vector<Point> points_;
  std::vector<unsigned char> axes_;  // axis of each median
};

}  // namespace

std::vector<float> local_densities(std::span<const Vec4> positions, int threads, const std::atomic<bool>* cancelled) {
  std::vector<float> densities(positions.size(), std::numeric_limits<float>::quiet_NaN());
  const PointTree tree{positions, cancelled};
  const int wanted = std::min(density_neighbours, tree.size() - 1);
  if (wanted < 2) return densities;
  for_each_chunk(tree.size(), chunk, threads, cancelled, [&](int first, int end) {
    for (int i = first; i < end; ++i) {  // neighbours in the tree: their searches read the same points
      if (cancelled && *cancelled) return;
      Nearest nearest{wanted};
      tree.search(tree.point(i), nearest);
      densities[static_cast<std::size_t>(tree.point(i).body)] = nearest.density();
    }
  });
  return densities;
}

}  // namespace orrery
