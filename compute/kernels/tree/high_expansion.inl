// Moments and expansions of the field of gravity to a constant order. One text serves every machine, as cell_pull.inl
// does. No include guard: high_expansion.h includes it for scalars, and a SIMD kernel for each instruction set, in a
// separate namespace. Besides the names that pair_law.inl needs, constant_like(Real, float), which makes a constant a
// Real, must be visible.

/// Calls use(constant) for begin, begin + 1, ... below end, as compile-time constants.
template <int begin, int end, class Use>
ORRERY_HD constexpr void for_each(const Use& use) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (use(std::integral_constant<int, begin + i>{}), ...);
  }
  (std::make_integer_sequence<int, end - begin>{});
}

/// Moments: the sums of m (-s)^powers / powers!, with s from the centre of mass, for orders from 0 (the mass) to
/// moment_order. There is no dipole.
template <class Real>
struct MomentsOf {
  Real at[moment_terms] = {};
};

/// Sets x^i y^j z^k / (i! j! k!) for all terms up to an order.
template <int order, class Real>
ORRERY_HD void set_monomials(Real (&terms)[terms_below(order + 1)], Real x, Real y, Real z) {
  const Real offset[] = {x, y, z};
  terms[0] = constant_like(x, 1);
  for_each<1, terms_below(order + 1)>([&](auto constant) {
    constexpr Powers powers = powers_of(decltype(constant)::value);
    constexpr int axis = powers.x > 0 ? 0 : powers.y > 0 ? 1 : 2, lower = term_of(powers.less(axis));
    constexpr float part = 1.0f / static_cast<float>(powers.along(axis));
    terms[decltype(constant)::value] = terms[lower] * (part * offset[axis]);
  });
}

/// Adds the moments from the third order on of a body or a cell, whose centre of mass is (dx, dy, dz) away from that of
/// the sum. A body's only nonzero moment is its mass.
template <class Real>
ORRERY_HD void add_body(MomentsOf<Real>& sum, Real dx, Real dy, Real dz, Real mass) {
  Real shift[moment_terms];
  set_monomials<moment_order>(shift, -dx, -dy, -dz);
  for_each<first_high_moment, moment_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    sum.at[term] = multiply_add(mass, shift[term], sum.at[term]);
  });
}
template <class Real>
ORRERY_HD void add_cell(MomentsOf<Real>& sum, Real dx, Real dy, Real dz, const MomentsOf<Real>& cell) {
  Real shift[moment_terms];
  set_monomials<moment_order>(shift, -dx, -dy, -dz);
  for_each<first_high_moment, moment_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    for_each<0, term + 1>([&](auto part) {
      constexpr int own = decltype(part)::value;
      constexpr Powers moved = powers_of(term).less(powers_of(own));
      if constexpr (powers_of(own).order() != 1 && moved.exist()) {
        sum.at[term] = multiply_add(cell.at[own], shift[term_of(moved)], sum.at[term]);
      }
    });
  });
}

/// Sets all derivatives of 1 / R up to field_order at (x, y, z), where R^2 = x^2 + y^2 + z^2 + eps^2 and `inverse` = 1
/// / R. For powers k of order n: n R^2 D_k = -(2 n - 1) sum k_i x_i D_{k-i} - (n - 1) sum k_i (k_i - 1) D_{k-2i}, as
/// for Legendre's polynomials (Duan and Krasny 2001, J. Comput. Chem. 22, 184).
template <class Real>
ORRERY_HD void set_derivatives(Real (&d)[field_terms], Real inverse, Real x, Real y, Real z) {
  const Real inverse_sq = inverse * inverse;
  const Real minus = -inverse_sq, along[] = {x * minus, y * minus, z * minus};
  d[0] = inverse;
  for_each<1, field_terms>([&](auto constant) {
    constexpr int term = decltype(constant)::value;
    Real first = constant_like(inverse, 0), second = first;
    for_each<0, 3>([&](auto axis_constant) {
      constexpr int axis = decltype(axis_constant)::value;
      constexpr Powers k = powers_of(term);
      constexpr auto n = static_cast<float>(k.order());
      if constexpr (k.along(axis) > 0) {
        constexpr float factor = (2 * n - 1) / n * static_cast<float>(k.along(axis));
        constexpr int lower = term_of(k.less(axis));
        first = multiply_add(factor * along[axis], d[lower], first);
      }
      if constexpr (k.along(axis) > 1) {
        constexpr float factor = (n - 1) / n * static_cast<float>(k.along(axis) * (k.along(axis) - 1));
        constexpr int lower = term_of(k.less(axis, 2));
        second = multiply_add(constant_like(inverse, factor), d[lower], second);
      }
    });
    d[term] = multiply_add(minus, second, first);
  });
}

/// Potential at an offset y from a centre: the sum of at[k] y^k / k!, without its constant.
template <class Real>
struct ExpansionOf {
  Real at[field_terms] = {};
  ORRERY_HD constexpr Real& operator[](int term) { return at[term]; }
};

/// Adds the field of a cell whose centre of mass is (dx, dy, dz) away from the expansion's centre. sums[term] must be a
/// reference to a term of an Expansion.
template <class Sums, class Real>
ORRERY_HD void add_distant_cell(Sums&& sums, Real inverse, Real dx, Real dy, Real dz, const MomentsOf<Real>& cell) {
  Real d[field_terms];
  set_derivatives(d, inverse, -dx, -dy, -dz);
  for_each<1, field_terms>([&](auto constant) {
    constexpr int k = decltype(constant)::value;
    constexpr int left = field_order - powers_of(k).order(), most = left < moment_order ? left : moment_order;
    Real term = constant_like(inverse, 0);
    for_each<0, terms_below(most + 1)>([&](auto moment) {
      constexpr int n = decltype(moment)::value;
      constexpr int both = term_of(powers_of(k) + powers_of(n));
      if constexpr (powers_of(n).order() != 1) term = multiply_add(cell.at[n], d[both], term);
    });
    sums[k] = sums[k] + term;
  });
}

/// Returns the estimated error of a distant cell's pull, times distance_sq: M (s + r)^6 / (2 d^6) + 6 M r^6 / d^6. Here
/// s is the cell's spread (spread_of()) and r the distance of the farthest body from the expansion's centre; extent_sq
/// = (s + r)^2. The first neglected term of a mass is 7 M r^6 / d^6 if the body lies in its direction, and the terms of
/// cells on one side of the group do not cancel.
template <class Real>
ORRERY_HD Real left_out(Real mass, Real extent_sq, Real radius_sq, Real distance_sq) {
  const Real same_sign = constant_like(mass, 6), mixed = constant_like(mass, 0.5f);
  const Real inverse_sq = constant_like(mass, 1) / distance_sq;
  const Real both = extent_sq * inverse_sq, group = radius_sq * inverse_sq;
  return mass * (mixed * (both * both * both) + same_sign * (group * group * group));
}

/// Returns the pull of an expansion, an ExpansionOf<float>, at an offset (x, y, z) from its centre.
template <class Expansion, class Real>
ORRERY_HD Vec3Of<Real> pull_at(const Expansion& expansion, Real x, Real y, Real z) {
  Real monomials[terms_below(field_order)];
  set_monomials<field_order - 1>(monomials, x, y, z);
  Vec3Of<Real> pull{constant_like(x, 0), constant_like(x, 0), constant_like(x, 0)};
  // Adds the smallest terms first.
  for_each<0, terms_below(field_order)>([&](auto constant) {
    constexpr int term = terms_below(field_order) - 1 - decltype(constant)::value;
    constexpr Powers k = powers_of(term);
    constexpr int x_term = term_of(k + Powers{1, 0, 0}), y_term = term_of(k + Powers{0, 1, 0}),
                  z_term = term_of(k + Powers{0, 0, 1});
    pull.x = multiply_add(constant_like(x, expansion.at[x_term]), monomials[term], pull.x);
    pull.y = multiply_add(constant_like(x, expansion.at[y_term]), monomials[term], pull.y);
    pull.z = multiply_add(constant_like(x, expansion.at[z_term]), monomials[term], pull.z);
  });
  return pull;
}
