// Fields of cells: the pull of one cell on a body, and expansions of the field of many distant cells around a point.
// The same source serves all instruction sets, as compute/core/pair_law.inl does. It has no include guard: multipole.h
// includes it for scalars, and a SIMD kernel includes it once per instruction set, in that set's namespace. It needs
// the names that pair_law.inl needs, and constant_like(Real, float), which converts a constant to Real.

/// Second moments: the sums of m x x, m y y, ... about a point.
template <class Real>
struct SecondMoments {
  Real xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

/// Second moments in the form that add_cell_pull() takes: times -3, and half the sum of xx, yy and zz.
template <class Real>
struct Quadrupole {
  Real xx, yy, zz, xy, xz, yz, half_trace;
};

/// Factors for a law whose inverse_distance() returns `scale` / r, and for a pull that is multiplied by `times`.
template <class Real>
struct QuadrupoleUnits {
  Real fourth;             ///< times / scale^5
  Real minus_five_halves;  ///< -5 / (2 scale^2)
};

/// Adds the pull of a cell whose centre of mass is D = (dx, dy, dz) away from a point. Let R^2 = D^2 + eps^2, n = D /
/// R, and Q the second moments about the centre of mass. To second order in the cell's size over R, the potential of
/// Plummer-softened bodies is
///   -M / R + tr Q / (2 R^3) - 3 D Q D / (2 R^5),
/// and its gradient adds this to the monopole's M n / R^2:
///   -3 / R^4 (Q n + (tr Q / 2 - 5/2 n Q n) n)
/// (Binney and Tremaine, Galactic Dynamics, 2nd ed., 2.4; Hernquist 1987 for trees). Q is not made traceless, since the
/// trace drops out only without softening. The repulsion of attract-repel has only a monopole. Beyond distances of
/// about 3e9, the quadrupole loses precision and then becomes zero, as R^-4 underflows. Nothing overflows unless Q has.
template <class Real, class PairLaw>
ORRERY_HD void add_cell_pull(Vec3Of<Real>& acceleration, const PairLaw& law, const QuadrupoleUnits<Real>& units,
                             Real dx, Real dy, Real dz, Real mass, const Quadrupole<Real>& q) {
  const Real inverse = law.inverse_distance(dx, dy, dz), inverse_sq = inverse * inverse;
  const Real nx = dx * inverse, ny = dy * inverse, nz = dz * inverse;
  const Real inverse_4 = units.fourth * (inverse_sq * inverse_sq);
  const Real qx = multiply_add(q.xz, nz, multiply_add(q.xy, ny, q.xx * nx));
  const Real qy = multiply_add(q.yz, nz, multiply_add(q.yy, ny, q.xy * nx));
  const Real qz = multiply_add(q.zz, nz, multiply_add(q.yz, ny, q.xz * nx));
  const Real nqn = multiply_add(qz, nz, multiply_add(qy, ny, qx * nx));
  const Real outward = multiply_add(units.minus_five_halves, nqn, q.half_trace);
  const Real along = multiply_add(inverse_4, outward, law.pull_at(inverse, mass));
  acceleration.x = multiply_add(along, nx, multiply_add(inverse_4, qx, acceleration.x));
  acceleration.y = multiply_add(along, ny, multiply_add(inverse_4, qy, acceleration.y));
  acceleration.z = multiply_add(along, nz, multiply_add(inverse_4, qz, acceleration.z));
}

/// Pull of gravity at an offset y from a centre, to third order in y:
///   a_i = A_i + A_ij y_j + A_ijk y_j y_k / 2 + A_ijkl y_j y_k y_l / 6.
/// The tensors are symmetric, but not traceless, since bodies are softened.
template <class Real>
struct LocalExpansion {
  enum Term {
    x,
    y,
    z,
    xx,
    xy,
    xz,
    yy,
    yz,
    zz,
    xxx,
    xxy,
    xxz,
    xyy,
    xyz,
    xzz,
    yyy,
    yyz,
    yzz,
    zzz,
    xxxx,
    xxxy,
    xxxz,
    xxyy,
    xxyz,
    xxzz,
    xyyy,
    xyyz,
    xyzz,
    xzzz,
    yyyy,
    yyyz,
    yyzz,
    yzzz,
    zzzz,
    terms
  };
  Real at[terms];

  /// Adds a times b to a term.
  ORRERY_HD void add(Term term, Real a, Real b) { at[term] = multiply_add(a, b, at[term]); }
};

/// Adds the field of a cell whose centre of mass is D = (dx, dy, dz) away from the expansion's centre. `inverse` is 1 /
/// R, with R^2 = D^2 + eps^2. The expansion has all terms up to R^-5 in the distance: third order in y for the mass,
/// and first order for the second moments. With f = 1 / R and its derivatives,
///   A_i = -(M f_i + Q_jk f_ijk / 2),  A_ij = M f_ij + Q_kl f_ijkl / 2,  A_ijk = -M f_ijk,  A_ijkl = M f_ijkl.
/// See Warren and Salmon 1995, Comput. Phys. Commun. 87, 266, and Dehnen 2002, J. Comput. Phys. 179, 27.
template <class Real>
ORRERY_HD void add_distant_cell(LocalExpansion<Real>& sum, Real inverse, Real dx, Real dy, Real dz, Real mass,
                                const Quadrupole<Real>& q) {
  using L = LocalExpansion<Real>;
  const auto number = [&](float value) { return constant_like(inverse, value); };
  const Real nx = dx * inverse, ny = dy * inverse, nz = dz * inverse;
  const Real inverse_sq = inverse * inverse, inverse_4 = inverse_sq * inverse_sq, inverse_5 = inverse_4 * inverse;
  const Real m2 = mass * inverse_sq, m3 = m2 * inverse, m4 = m2 * inverse_sq, m5 = m3 * inverse_sq;

  const Real qx = multiply_add(q.xz, nz, multiply_add(q.xy, ny, q.xx * nx));
  const Real qy = multiply_add(q.yz, nz, multiply_add(q.yy, ny, q.xy * nx));
  const Real qz = multiply_add(q.zz, nz, multiply_add(q.yz, ny, q.xz * nx));
  const Real nqn = multiply_add(qz, nz, multiply_add(qy, ny, qx * nx));
  const Real outward = multiply_add(number(-2.5f), nqn, q.half_trace);
  const Real along = multiply_add(inverse_4, outward, m2);
  sum.at[L::x] = multiply_add(along, nx, multiply_add(inverse_4, qx, sum.at[L::x]));
  sum.at[L::y] = multiply_add(along, ny, multiply_add(inverse_4, qy, sum.at[L::y]));
  sum.at[L::z] = multiply_add(along, nz, multiply_add(inverse_4, qz, sum.at[L::z]));

  const Real both =
      multiply_add(inverse_5, multiply_add(number(3.5f), outward, number(0) - q.half_trace), number(1.5f) * m3);
  const Real five = number(5) * inverse_5, minus = number(0) - inverse_5;
  const Real wx = multiply_add(both, nx, five * qx), wy = multiply_add(both, ny, five * qy),
             wz = multiply_add(both, nz, five * qz);
  const Real across = multiply_add(inverse_5, outward, m3);
  sum.at[L::xx] = multiply_add(wx + wx, nx, multiply_add(minus, q.xx, sum.at[L::xx] - across));
  sum.at[L::yy] = multiply_add(wy + wy, ny, multiply_add(minus, q.yy, sum.at[L::yy] - across));
  sum.at[L::zz] = multiply_add(wz + wz, nz, multiply_add(minus, q.zz, sum.at[L::zz] - across));
  sum.at[L::xy] = multiply_add(wx, ny, multiply_add(wy, nx, multiply_add(minus, q.xy, sum.at[L::xy])));
  sum.at[L::xz] = multiply_add(wx, nz, multiply_add(wz, nx, multiply_add(minus, q.xz, sum.at[L::xz])));
  sum.at[L::yz] = multiply_add(wy, nz, multiply_add(wz, ny, multiply_add(minus, q.yz, sum.at[L::yz])));

  const Real xx = nx * nx, yy = ny * ny, zz = nz * nz, yz = ny * nz;
  const Real mx = m4 * nx, my = m4 * ny, mz = m4 * nz;
  const Real fifteen = number(15), minus_three = number(-3);
  const Real bx = multiply_add(fifteen, xx, minus_three), by = multiply_add(fifteen, yy, minus_three),
             bz = multiply_add(fifteen, zz, minus_three);
  sum.add(L::xxx, mx, bx - number(6));
  sum.add(L::xxy, my, bx);
  sum.add(L::xxz, mz, bx);
  sum.add(L::xyy, mx, by);
  sum.add(L::xyz, fifteen * mx, yz);
  sum.add(L::xzz, mx, bz);
  sum.add(L::yyy, my, by - number(6));
  sum.add(L::yyz, mz, by);
  sum.add(L::yzz, my, bz);
  sum.add(L::zzz, mz, bz - number(6));

  const Real jx = m5 * nx, jxy = jx * ny, jxz = jx * nz, jyz = m5 * yz;
  const Real cx = number(105) * xx, cy = number(105) * yy, cz = number(105) * zz;
  const Real three = number(3), minus_fifteen = number(-15);
  sum.add(L::xxxx, m5, multiply_add(cx - number(90), xx, number(9)));
  sum.add(L::xxxy, jxy, cx - number(45));
  sum.add(L::xxxz, jxz, cx - number(45));
  sum.add(L::xxyy, m5, multiply_add(cx, yy, multiply_add(minus_fifteen, xx + yy, three)));
  sum.add(L::xxyz, jyz, cx - fifteen);
  sum.add(L::xxzz, m5, multiply_add(cx, zz, multiply_add(minus_fifteen, xx + zz, three)));
  sum.add(L::xyyy, jxy, cy - number(45));
  sum.add(L::xyyz, jxz, cy - fifteen);
  sum.add(L::xyzz, jxy, cz - fifteen);
  sum.add(L::xzzz, jxz, cz - number(45));
  sum.add(L::yyyy, m5, multiply_add(cy - number(90), yy, number(9)));
  sum.add(L::yyyz, jyz, cy - number(45));
  sum.add(L::yyzz, m5, multiply_add(cy, zz, multiply_add(minus_fifteen, yy + zz, three)));
  sum.add(L::yzzz, jyz, cz - number(45));
  sum.add(L::zzzz, m5, multiply_add(cz - number(90), zz, number(9)));
}

/// Returns the pull of an expansion, a LocalExpansion<float>, at an offset (x, y, z) from its centre.
template <class L, class Real>
ORRERY_HD Vec3Of<Real> pull_at(const L& expansion, Real x, Real y, Real z) {
  const auto a = [&](typename L::Term term) { return constant_like(x, expansion.at[term]); };
  // Horner's scheme: third-order terms are contracted with y / 3, their sums with y / 2, and those sums with y.
  const Real three = constant_like(x, 3), tx = x / three, ty = y / three, tz = z / three;
  const Real xxx = a(L::xxx) + a(L::xxxx) * tx + a(L::xxxy) * ty + a(L::xxxz) * tz;
  const Real xxy = a(L::xxy) + a(L::xxxy) * tx + a(L::xxyy) * ty + a(L::xxyz) * tz;
  const Real xxz = a(L::xxz) + a(L::xxxz) * tx + a(L::xxyz) * ty + a(L::xxzz) * tz;
  const Real xyy = a(L::xyy) + a(L::xxyy) * tx + a(L::xyyy) * ty + a(L::xyyz) * tz;
  const Real xyz = a(L::xyz) + a(L::xxyz) * tx + a(L::xyyz) * ty + a(L::xyzz) * tz;
  const Real xzz = a(L::xzz) + a(L::xxzz) * tx + a(L::xyzz) * ty + a(L::xzzz) * tz;
  const Real yyy = a(L::yyy) + a(L::xyyy) * tx + a(L::yyyy) * ty + a(L::yyyz) * tz;
  const Real yyz = a(L::yyz) + a(L::xyyz) * tx + a(L::yyyz) * ty + a(L::yyzz) * tz;
  const Real yzz = a(L::yzz) + a(L::xyzz) * tx + a(L::yyzz) * ty + a(L::yzzz) * tz;
  const Real zzz = a(L::zzz) + a(L::xzzz) * tx + a(L::yzzz) * ty + a(L::zzzz) * tz;
  const Real two = constant_like(x, 2), hx = x / two, hy = y / two, hz = z / two;
  const Real xx = a(L::xx) + xxx * hx + xxy * hy + xxz * hz, xy = a(L::xy) + xxy * hx + xyy * hy + xyz * hz;
  const Real xz = a(L::xz) + xxz * hx + xyz * hy + xzz * hz, yy = a(L::yy) + xyy * hx + yyy * hy + yyz * hz;
  const Real yz = a(L::yz) + xyz * hx + yyz * hy + yzz * hz, zz = a(L::zz) + xzz * hx + yzz * hy + zzz * hz;
  return {a(L::x) + xx * x + xy * y + xz * z, a(L::y) + xy * x + yy * y + yz * z, a(L::z) + xz * x + yz * y + zz * z};
}

// Moments and expansions to a constant order, see orrery::high in multipole.h.
namespace high {

using namespace orrery::high;

/// Calls use(constant) for begin, begin + 1, ... below end, as compile-time constants.
template <int begin, int end, class Use>
ORRERY_HD constexpr void for_each(const Use& use) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (use(std::integral_constant<int, begin + i>{}), ...);
  }
  (std::make_integer_sequence<int, end - begin>{});
}

/// Moments: the sums of m (-s)^powers / powers! for orders from 0 (the mass) to moment_order, where s is measured from
/// the centre of mass. The dipole is zero, so its entries are not used.
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

/// Adds the moments of the third order and higher of a body or a cell. Its centre of mass is (dx, dy, dz) away from
/// that of the sum. A body's only nonzero moment is its mass.
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

/// Expansion of the potential at an offset y from a centre: the sum of at[k] y^k / k!, without the constant.
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
/// s is the cell's spread (spread_of()), r is the distance of the farthest body from the expansion's centre, and
/// extent_sq = (s + r)^2. The first neglected term of a mass is 7 M r^6 / d^6 if the body lies in its direction. Such
/// terms of cells on one side of the group do not cancel.
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

}  // namespace high
