#include "compute/kernels/tree/root_cube.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double places = 1 << 21;

/// The nearest whole number, for less than 2^51; sums of loops with it are vectors, and with std::rint() they are not.
double nearest(double value) {
  constexpr double whole_numbers = 0x1.8p52;  // there, double has no fractions
  return (value + whole_numbers) - whole_numbers;
}

}  // namespace

void Bounds::add(std::span<const Vec4> bodies) {
  const auto extend = [](float at, float& low, float& high) {
    low = at < low ? at : low;
    high = at > high ? at : high;
  };
  for (const Vec4& body : bodies) {
    extend(body.x, box.low.x, box.high.x);
    extend(body.y, box.low.y, box.high.y);
    extend(body.z, box.low.z, box.high.z);
    mass = body.w > mass ? body.w : mass;
  }
  count += static_cast<std::int64_t>(bodies.size());
}

void Bounds::add(const Bounds& other) {
  box.add(other.box);
  mass = std::max(mass, other.mass);
  count += other.count;
}

CubeGrid::CubeGrid(const Bounds& all) : all_{all} {
  const auto side = [](float low, float high) { return double{high} - double{low}; };
  const Box& box = all.box;
  const double widest =
      std::max({side(box.low.x, box.high.x), side(box.low.y, box.high.y), side(box.low.z, box.high.z)});
  if (widest > 0) places_per_length_ = places / widest;
}

double CubeGrid::place(float at, float low) const {
  return nearest((double{at} - double{low}) * places_per_length_);
}

Vec3d CubeGrid::sums(std::span<const Vec4> bodies) const {
  const Vec3& low = all_.box.low;
  Vec3d sum;
  for (const Vec4& body : bodies) {
    sum.x += place(body.x, low.x);
    sum.y += place(body.y, low.y);
    sum.z += place(body.z, low.z);
  }
  return sum;
}

Vec3d CubeGrid::mean(const Vec3d& sums) const {
  const auto count = static_cast<double>(all_.count);
  return {nearest(sums.x / count), nearest(sums.y / count), nearest(sums.z / count)};
}

Vec3d CubeGrid::distances(std::span<const Vec4> bodies, const Vec3d& sums) const {
  const Vec3& low = all_.box.low;
  const Vec3d from = mean(sums);
  Vec3d sum;
  for (const Vec4& body : bodies) {
    sum.x += std::abs(place(body.x, low.x) - from.x);
    sum.y += std::abs(place(body.y, low.y) - from.y);
    sum.z += std::abs(place(body.z, low.z) - from.z);
  }
  return sum;
}

TreeCube CubeGrid::cube(const Vec3d& sums, const Vec3d& distances) const {
  const Box& box = all_.box;
  if (!(places_per_length_ > 0)) return cube_around(box.low, box.high, all_.mass);
  constexpr double rounding = 1;  // of the places
  const double furthest = std::max({distances.x, distances.y, distances.z}) / static_cast<double>(all_.count);
  const double reach = 16 * furthest + rounding;
  const Vec3d at = mean(sums);
  const auto low = [&](double mean, float least) {
    return std::max(static_cast<float>(least + (mean - reach) / places_per_length_), least);
  };
  const auto high = [&](double mean, float least, float greatest) {
    return std::min(static_cast<float>(least + (mean + reach) / places_per_length_), greatest);
  };
  return cube_around(
      {low(at.x, box.low.x), low(at.y, box.low.y), low(at.z, box.low.z)},
      {high(at.x, box.low.x, box.high.x), high(at.y, box.low.y, box.high.y), high(at.z, box.low.z, box.high.z)},
      all_.mass);
}

}  // namespace orrery
