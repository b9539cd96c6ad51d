#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "compute/core/vec.h"
#include "compute/kernels/tree/multipole.h"

// Expansions of the field of gravity to a constant order, so that the compiler unrolls terms and loops over them. A
// term is a product of powers x^i y^j z^k; its order is i + j + k.
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
/// Returns the index of a term. Terms are sorted by order, then by the power of x, highest first, then by that of y.
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

/// Highest order of the potential's terms: terms of R^-(order + 1), in the sizes of group and cell together.
inline constexpr int field_order = 6;
/// Highest order of a cell's moments.
inline constexpr int moment_order = 5;

inline constexpr int field_terms = terms_below(field_order + 1);
inline constexpr int moment_terms = terms_below(moment_order + 1);
/// Index of the first moment of third order; every tree has the lower ones.
inline constexpr int first_high_moment = terms_below(3);
/// Range in which the highest derivatives of 1 / R and the terms of a cell are finite in fp32: these distances, and
/// masses up to most_pull times the eighth power of the distance.
inline constexpr float nearest = 1e-4f, farthest = 1e5f, most_pull = 1e33f;
/// Number of Vec4 per cell in memory.
inline constexpr int stored_vectors = (moment_terms - first_high_moment + 3) / 4;

#include "compute/kernels/tree/high_expansion.inl"

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
/// the rms distance, it is sensitive to the few outer bodies whose high moments a pull leaves out.
ORRERY_HD inline float spread_of(const Moments& moments) {
  constexpr float mixed = 2 * 2 * 2, pure = 24;  // twice the factorials of the powers, and once
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
