#pragma once

#include <type_traits>
#include <utility>

#include "compute/core/vec.h"

// Expansions of the field of gravity to an order that is a constant: terms and loops over them are unrolled by the
// compiler. A term is a product of powers x^i y^j z^k, and has the order i + j + k.
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
/// The number of a term: by order, then by the power of x, the highest first, then of y.
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

/// Calls use(constant) for begin, begin + 1, ... below end, as constants of the compiler.
template <int begin, int end, class Use>
ORRERY_HD constexpr void for_each(const Use& use) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (use(std::integral_constant<int, begin + i>{}), ...);
  }
  (std::make_integer_sequence<int, end - begin>{});
}

/// The highest order of the potential's terms: those of R^-(order + 1), in the sizes of group and cell together.
inline constexpr int field_order = 6;
/// The highest order of a cell's moments.
inline constexpr int moment_order = 5;

inline constexpr int field_terms = terms_below(field_order + 1);
inline constexpr int moment_terms = terms_below(moment_order + 1);
/// Moments up to the second are those of every tree.
inline constexpr int first_high_moment = terms_below(3);
/// In the memory of a cell.
inline constexpr int stored_vectors = (moment_terms - first_high_moment + 3) / 4;

/// The sums of m (-s)^powers / powers!, with s from the centre of mass: orders from 0, the mass, to moment_order.
/// There is no dipole.
struct Moments {
  float at[moment_terms] = {};
};

/// Sets x^i y^j z^k / (i! j! k!) for all terms up to an order.
template <int order>
ORRERY_HD void set_monomials(float (&terms)[terms_below(order + 1)], float x, float y, float z) {
  const float offset[] = {x, y, z};
  terms[0] = 1;
  for_each<1, terms_below(order + 1)>([&](auto constant) {
    constexpr Powers powers = powers_of(decltype(constant)::value);
    constexpr int axis = powers.x > 0 ? 0 : powers.y > 0 ? 1 : 2, lower = term_of(powers.less(axis));
    constexpr float part = 1.0f / static_cast<float>(powers.along(axis));
    terms[decltype(constant)::value] = terms[lower] * (part * offset[axis]);
  });
}

/// Adds the moments from the third order on of a body or a cell, whose centre of mass is (dx, dy, dz) away from that of
/// the sum. Of a body, only the mass is not zero.
ORRERY_HD inline void add_body(Moments& sum, float dx, float dy, float dz, float mass) {
  float shift[moment_terms];
  set_monomials<moment_order>(shift, -dx, -dy, -dz);
  for_each<first_high_moment, moment_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    sum.at[term] += mass * shift[term];
  });
}
ORRERY_HD inline void add_cell(Moments& sum, float dx, float dy, float dz, const Moments& cell) {
  float shift[moment_terms];
  set_monomials<moment_order>(shift, -dx, -dy, -dz);
  for_each<first_high_moment, moment_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    for_each<0, term + 1>([&](auto part) {
      constexpr int own = decltype(part)::value;
      constexpr Powers moved = powers_of(term).less(powers_of(own));
      if constexpr (powers_of(own).order() != 1 && moved.exist()) {
        sum.at[term] += cell.at[own] * shift[term_of(moved)];
      }
    });
  });
}

/// Sets all derivatives of 1 / R up to field_order at (x, y, z), with R^2 = x^2 + y^2 + z^2 + eps^2 and `inverse` = 1 /
/// R. For powers k of order n: n R^2 D_k = -(2 n - 1) sum k_i x_i D_{k-i} - (n - 1) sum k_i (k_i - 1) D_{k-2i}, as
/// for Legendre's polynomials (Duan and Krasny 2001, J. Comput. Chem. 22, 184).
ORRERY_HD inline void set_derivatives(float (&d)[field_terms], float inverse, float x, float y, float z) {
  const float inverse_sq = inverse * inverse;
  const float along[] = {x * inverse_sq, y * inverse_sq, z * inverse_sq};
  d[0] = inverse;
  for_each<1, field_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    float first = 0, second = 0;
    for_each<0, 3>([&](auto axis_constant) {
      constexpr int axis = decltype(axis_constant)::value;
      constexpr Powers k = powers_of(term);
      constexpr auto n = static_cast<float>(k.order());
      if constexpr (k.along(axis) > 0) {
        constexpr float factor = (2 * n - 1) / n * static_cast<float>(k.along(axis));
        constexpr int lower = term_of(k.less(axis));
        first += factor * along[axis] * d[lower];
      }
      if constexpr (k.along(axis) > 1) {
        constexpr float factor = (n - 1) / n * static_cast<float>(k.along(axis) * (k.along(axis) - 1));
        constexpr int lower = term_of(k.less(axis, 2));
        second += factor * d[lower];
      }
    });
    d[term] = -(first + inverse_sq * second);
  });
}

/// The potential at an offset y from a centre: the sum of at[k] y^k / k!, without its constant.
struct Expansion {
  float at[field_terms] = {};
  ORRERY_HD constexpr float& operator[](int term) { return at[term]; }
};

/// Adds the field of a cell whose centre of mass is (dx, dy, dz) away from the expansion's centre. sums[term] is a
/// reference to a term of an Expansion.
template <class Sums>
ORRERY_HD void add_distant_cell(Sums&& sums, float inverse, float dx, float dy, float dz, const Moments& cell) {
  float d[field_terms];
  set_derivatives(d, inverse, -dx, -dy, -dz);
  for_each<1, field_terms>([&](auto constant) {
    constexpr int k = decltype(constant)::value;
    constexpr int left = field_order - powers_of(k).order(), most = left < moment_order ? left : moment_order;
    float term = 0;
    for_each<0, terms_below(most + 1)>([&](auto moment) {
      constexpr int n = decltype(moment)::value;
      constexpr int both = term_of(powers_of(k) + powers_of(n));
      if constexpr (powers_of(n).order() != 1) term += cell.at[n] * d[both];
    });
    sums[k] += term;
  });
}

/// The pull of an expansion at an offset (x, y, z) from its centre.
ORRERY_HD inline Vec3 pull_at(const Expansion& expansion, float x, float y, float z) {
  float monomials[terms_below(field_order)];
  set_monomials<field_order - 1>(monomials, x, y, z);
  Vec3 pull;
  // The smallest terms first.
  for_each<0, terms_below(field_order)>([&](auto constant) {
    constexpr int term = terms_below(field_order) - 1 - decltype(constant)::value;
    constexpr Powers k = powers_of(term);
    constexpr int x_term = term_of(k + Powers{1, 0, 0}), y_term = term_of(k + Powers{0, 1, 0}),
                  z_term = term_of(k + Powers{0, 0, 1});
    pull.x += expansion.at[x_term] * monomials[term];
    pull.y += expansion.at[y_term] * monomials[term];
    pull.z += expansion.at[z_term] * monomials[term];
  });
  return pull;
}

}  // namespace orrery::high
