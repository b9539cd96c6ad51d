// The far field of a cell: one text for every machine, as compute/core/pair_law.inl is. No include guard: multipole.h
// includes it for scalars, and a SIMD kernel for each instruction set, inside that set's namespace.

/// Second moments, the sums of m x x, m y y, ... about a point.
template <class Real>
struct SecondMoments {
  Real xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

/// The quadrupole's part of a cell's pull. With D from a point to the cell's centre of mass, R^2 = D^2 + eps^2, n = D /
/// R and Q its second moments about the centre of mass, the potential of bodies softened as Plummer spheres is, to
/// second order in the cell's size over R,
///   -M / R + tr Q / (2 R^3) - 3 D Q D / (2 R^5),
/// and its gradient adds to the monopole's M D / R^3
///   -3 / R^4 (Q n + (tr Q / 2 - 5/2 n Q n) n).
/// Binney and Tremaine, Galactic Dynamics (2nd ed.), 2.4; Hernquist 1987 for trees. The second moments are not made
/// traceless, since only without softening would the trace drop out. Beyond distances of some 1e9 the part underflows
/// to zero; nothing overflows.
template <class Real>
struct QuadrupolePull {
  // For a reciprocal_sqrt() that returns `scale` times 1/sqrt: -3 / scale^4, 1/2 and -5 / (2 scale^2), with n scaled.
  Real minus_three, half, minus_five_halves;

  /// `inverse` is 1 / R.
  ORRERY_HD void add(Vec3Of<Real>& acceleration, Real dx, Real dy, Real dz, Real inverse,
                     const SecondMoments<Real>& q) const {
    const Real nx = dx * inverse, ny = dy * inverse, nz = dz * inverse;
    const Real qx = multiply_add(q.xx, nx, multiply_add(q.xy, ny, q.xz * nz));
    const Real qy = multiply_add(q.xy, nx, multiply_add(q.yy, ny, q.yz * nz));
    const Real qz = multiply_add(q.xz, nx, multiply_add(q.yz, ny, q.zz * nz));
    const Real nqn = multiply_add(nx, qx, multiply_add(ny, qy, nz * qz));
    const Real inverse_sq = inverse * inverse;
    const Real k = minus_three * (inverse_sq * inverse_sq);
    const Real along = multiply_add(minus_five_halves, nqn, half * (q.xx + q.yy + q.zz));
    acceleration.x = multiply_add(k, multiply_add(along, nx, qx), acceleration.x);
    acceleration.y = multiply_add(k, multiply_add(along, ny, qy), acceleration.y);
    acceleration.z = multiply_add(k, multiply_add(along, nz, qz), acceleration.z);
  }
};

/// Adds the pull of a cell whose centre of mass is (dx, dy, dz) away from a point. Of attract-repel's repulsion the
/// cell has the monopole alone.
template <class Real, class PairLaw>
ORRERY_HD void add_cell_pull(Vec3Of<Real>& acceleration, const PairLaw& law, const QuadrupolePull<Real>& quadrupole,
                             Real dx, Real dy, Real dz, Real mass, const SecondMoments<Real>& q) {
  const Real inverse = law.inverse_distance(dx, dy, dz);
  const Real s = law.factor_at(inverse, mass);
  acceleration.x = multiply_add(s, dx, acceleration.x);
  acceleration.y = multiply_add(s, dy, acceleration.y);
  acceleration.z = multiply_add(s, dz, acceleration.z);
  quadrupole.add(acceleration, dx, dy, dz, inverse, q);
}
