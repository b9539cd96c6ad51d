#include "compute/diagnostics/local_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "compute/core/threads.h"

namespace orrery {
namespace {

constexpr int leaf_size = 12;
constexpr int chunk = 64;  // bodies of one share of the work

struct Point {
  std::array<float, 3> at;
  float mass;
  int body;
};

/// The nearest points until now, the nearest first.
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

/// A balanced k-d tree: each range of points is halved at the median of its longest side. The halves need no pointers.
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
  std::vector<unsigned char> axes_;  // of the medians
};

}  // namespace

std::vector<float> local_densities(std::span<const Vec4> positions, int threads, const std::atomic<bool>* cancelled) {
  std::vector<float> densities(positions.size(), std::numeric_limits<float>::quiet_NaN());
  const PointTree tree{positions, cancelled};
  const int wanted = std::min(density_neighbours, tree.size() - 1);
  if (wanted < 2) return densities;
  for_each_chunk(tree.size(), chunk, threads, cancelled, [&](int first, int end) {
    for (int i = first; i < end; ++i) {  // neighbours in the tree, whose searches read the same points
      if (cancelled && *cancelled) return;
      Nearest nearest{wanted};
      tree.search(tree.point(i), nearest);
      densities[static_cast<std::size_t>(tree.point(i).body)] = nearest.density();
    }
  });
  return densities;
}

}  // namespace orrery
