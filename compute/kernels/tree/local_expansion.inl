// Field of distant cells around a point. One text serves every machine, as cell_pull.inl does. No include guard:
// multipole.h includes it for scalars, and a SIMD kernel for each instruction set, after cell_pull.inl. Besides the
// names that pair_law.inl needs, constant_like(Real, float), which makes a constant a Real, must be visible.

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
  // Thirds of the third-order terms: contracted with y three times, and added with the factors 1/3, 1/2 and 1.
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
