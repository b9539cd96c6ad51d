#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "compute/core/law.h"
#include "compute/core/vec.h"

// Expansions of the gravitational field to a constant order, so that the compiler unrolls loops over terms. A term is a
// product of powers x^i y^j z^k; its order is i + j + k.
namespace orrery::high {

struct Powers {
  int x, y, z;
  constexpr int order() const { return x + y + z; }
  constexpr int along(int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  constexpr Powers less(int axis, int times = 1) const {
    return {x - (axis == 0) * times, y - (axis == 1) * times, z - (axis == 2) * times};
  }
  constexpr Powers less(const Powers& other) const { return {x - other.x, y - other.y, z - other.z}; }
  constexpr bool exist() const { return x >= 0 && y >= 0 && z >= 0; }
  constexpr Powers operator+(const Powers& other) const { return {x + other.x, y + other.y, z + other.z}; }
};

constexpr int terms_below(int order) {
  return order * (order + 1) * (order + 2) / 6;
}
/// Returns the index of a term. Terms are sorted by order, then by the power of x, highest first, then by the power of
/// y.
constexpr int term_of(const Powers& powers) {
  const int rest = powers.y + powers.z;
  return terms_below(powers.order()) + rest * (rest + 1) / 2 + powers.z;
}
constexpr Powers powers_of(int term) {
  int order = 0;
  while (terms_below(order + 1) <= term) ++order;
  int left = term - terms_below(order), rest = 0;
  while ((rest + 1) * (rest + 2) / 2 <= left) ++rest;
  const int z = left - rest * (rest + 1) / 2;
  return {order - rest, rest - z, z};
}

/// Highest order of the potential's terms, in the sizes of group and cell together. These terms fall as R^-(order + 1).
inline constexpr int field_order = 6;
/// Highest order of a cell's moments.
inline constexpr int moment_order = 5;

inline constexpr int field_terms = terms_below(field_order + 1);
inline constexpr int moment_terms = terms_below(moment_order + 1);
/// Index of the first moment of third order. Every tree has the lower moments.
inline constexpr int first_high_moment = terms_below(3);
/// Range in which the highest derivatives of 1 / R and the terms of a cell are finite in fp32: distances from `nearest`
/// to `farthest`, and masses up to most_pull times the eighth power of the distance.
inline constexpr float nearest = 1e-4f, farthest = 1e5f, most_pull = 1e33f;
/// Number of Vec4 that store a cell's high moments.
inline constexpr int stored_vectors = (moment_terms - first_high_moment + 3) / 4;

}  // namespace orrery::high

namespace orrery {

ORRERY_HD constexpr float constant_like(float, float value) {
  return value;
}

#include "compute/kernels/tree/multipole.inl"

/// Terms by which a distant cell acts.
enum class FarField : std::uint8_t {
  monopole,    ///< masses only
  quadrupole,  ///< masses and second moments
  local,       ///< as quadrupole, but cells far from a group act through one local expansion; for gravity only
  high         ///< as local, with moments and an expansion of the orders in orrery::high
};

/// Units for scalar laws, whose inverse_distance() returns 1 / r.
ORRERY_HD constexpr QuadrupoleUnits<float> scalar_units() {
  return {1, -2.5f};
}

ORRERY_HD inline Quadrupole<float> quadrupole_of(const SecondMoments<float>& q) {
  return {-3 * q.xx, -3 * q.yy, -3 * q.zz, -3 * q.xy, -3 * q.xz, -3 * q.yz, -1.5f * (q.xx + q.yy + q.zz)};
}

/// Minimum distance of cells in a group's local expansion, in radii of the group over theta, if the opening angle alone
/// decides. From there on, the expansion adds little to the errors of the cells (docs/measurements/trees.md).
inline constexpr float local_radii = 2.5f;
/// Safety factor of the local expansion, if the error of a cell decides. The expansion's first neglected term for a
/// mass is about M radius^4 / d^6. It must be smaller than the allowed error by at least this factor.
inline constexpr float local_safety = 10;
/// Distance beyond which terms of the expansion underflow.
inline constexpr float farthest_local = 1e7f;

/// Maximum opening of the coarse cells that estimate a group's acceleration: a cell's extent over its distance from the
/// center of the group's box. The estimate sums their pulls on estimate_bodies of the group's bodies.
inline constexpr float coarse_opening = 1.5f;
inline constexpr int estimate_bodies = 4;
/// Returns which body of a group of `count` is body `i` of the estimate, both counted from 0.
ORRERY_HD constexpr int estimate_body(int i, int count) {
  return (2 * i + 1) * count / (2 * estimate_bodies);
}
/// Minimum of the estimate for a body, relative to the sum of its pulls' magnitudes. Pulls of coarse cells may cancel
/// where the pulls of all bodies do not.
inline constexpr float least_pull_part = 0.05f;
/// Returns the estimate for a group, from the mean and minimum of the estimates for its bodies.
ORRERY_HD constexpr float group_estimate(float mean, float least) {
  constexpr float most_above_least = 1.5f;
  const float most = most_above_least * least;
  return mean < most ? mean : most;
}

/// Returns whether a body walks again, alone, because its acceleration is much weaker than the estimate of its group.
ORRERY_HD constexpr bool walks_alone(float error_of_body, float error_of_group) {
  constexpr float most_ratio = 3;
  return most_ratio * error_of_body < error_of_group;
}
/// A body that walks alone.
struct LoneBody {
  int place;    ///< place in key order
  float error;  ///< largest allowed error of a cell's pull on the body
};
/// Returns how many of `count` bodies may walk alone; if more would, none does. Otherwise, the tree would become a
/// direct sum if very many accelerations cancel.
ORRERY_HD constexpr int most_lone(int count) {
  return count / 32 + 256;
}
/// Returns the allowed error for a body that walks alone. The minimum of this error suits a star that pulls its
/// neighbours strongly but feels little pull.
ORRERY_HD constexpr float error_alone(float error_of_body, float error_of_group) {
  constexpr float least_part = 1e-6f;
  const float least = least_part * error_of_group, own = error_of_body / 2;
  return own > least ? own : least;
}

/// Moments of a cell up to the second order.
struct Moments {
  Vec4 center;             ///< centre of mass; the mass in w
  SecondMoments<float> q;  ///< about the centre of mass
};

/// Adds the second moments of a body or cell about a point that is (dx, dy, dz) away from its centre of mass.
ORRERY_HD inline void add_second_moments(SecondMoments<float>& q, float dx, float dy, float dz, const Vec4& body) {
  const float mx = body.w * dx, my = body.w * dy, mz = body.w * dz;
  q.xx += mx * dx;
  q.yy += my * dy;
  q.zz += mz * dz;
  q.xy += mx * dy;
  q.xz += mx * dz;
  q.yz += my * dz;
}
ORRERY_HD inline void add_second_moments(SecondMoments<float>& q, float dx, float dy, float dz, const Moments& cell) {
  add_second_moments(q, dx, dy, dz, cell.center);
  q.xx += cell.q.xx;
  q.yy += cell.q.yy;
  q.zz += cell.q.zz;
  q.xy += cell.q.xy;
  q.xz += cell.q.xz;
  q.yz += cell.q.yz;
}

ORRERY_HD inline const Vec4& center_of(const Vec4& body) {
  return body;
}
ORRERY_HD inline const Vec4& center_of(const Moments& cell) {
  return cell.center;
}

/// Returns the moments of `count` >= 1 bodies or cells: part(i) is a Vec4 (the mass in w) or Moments. Calls part()
/// twice for each: sums about the first part, then about the centre of mass, keep their digits far from the origin.
template <class Part>
ORRERY_HD Moments combined_moments(int count, const Part& part) {
  const Vec4 origin = center_of(part(0));
  Vec4 sum;
  for (int i = 0; i < count; ++i) {
    const Vec4 at = center_of(part(i));
    sum.x += at.w * (at.x - origin.x);
    sum.y += at.w * (at.y - origin.y);
    sum.z += at.w * (at.z - origin.z);
    sum.w += at.w;
  }
  Moments all;
  all.center = origin;  // for massless bodies
  if (sum.w > 0) all.center = {origin.x + sum.x / sum.w, origin.y + sum.y / sum.w, origin.z + sum.z / sum.w, sum.w};
  for (int i = 0; i < count; ++i) {
    const auto& one = part(i);
    const Vec4 at = center_of(one);
    add_second_moments(all.q, at.x - all.center.x, at.y - all.center.y, at.z - all.center.z, one);
  }
  return all;
}

}  // namespace orrery

namespace orrery::high {

using Moments = MomentsOf<float>;
using Expansion = ExpansionOf<float>;

/// Returns the moments up to the second order; all others are 0. `q`: about the centre of mass.
inline Moments moments_to_second(float mass, const SecondMoments<float>& q) {
  Moments moments;
  moments.at[0] = mass;
  const float second[] = {q.xx / 2, q.xy, q.xz, q.yy / 2, q.yz, q.zz / 2};
  for (int i = 0; i < 6; ++i) moments.at[terms_below(2) + i] = second[i];
  return moments;
}

/// Returns the fourth root of the mean fourth power of the distances of a cell's bodies from its centre of mass. Unlike
/// the rms distance, it is sensitive to the few outer bodies, whose high moments a pull leaves out.
ORRERY_HD inline float spread_of(const Moments& moments) {
  constexpr float mixed = 2 * 2 * 2, pure = 24;  // factors of x^2 y^2 (2 * 2! * 2!) and x^4 (4!)
  float sum = 0;
  for_each<terms_below(4), terms_below(5)>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    constexpr Powers k = powers_of(term);
    if constexpr (k.x % 2 == 0 && k.y % 2 == 0 && k.z % 2 == 0) {
      sum += (k.x == 4 || k.y == 4 || k.z == 4 ? pure : mixed) * moments.at[term];
    }
  });
  return sum > 0 ? sqrtf(sqrtf(sum / moments.at[0])) : 0;
}

}  // namespace orrery::high
