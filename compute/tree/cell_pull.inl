// The far field of a cell: one text for every machine, as compute/core/pair_law.inl is. No include guard: multipole.h
// includes it for scalars, and a SIMD kernel for each instruction set, inside that set's namespace.

/// Second moments, the sums of m x x, m y y, ... about a point.
template <class Real>
struct SecondMoments {
  Real xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

/// Second moments as a cell's pull takes them: times -3, and half the sum of xx, yy and zz.
template <class Real>
struct Quadrupole {
  Real xx, yy, zz, xy, xz, yz, half_trace;
};

/// For a reciprocal_sqrt() that returns `scale` times 1/sqrt, and a pull that is wanted `times` over.
template <class Real>
struct QuadrupoleUnits {
  Real fifth;              ///< times / scale^5
  Real minus_five_halves;  ///< -5 / (2 scale^2)
};

/// Adds the pull of a cell whose centre of mass is D = (dx, dy, dz) away from a point. With R^2 = D^2 + eps^2 and Q its
/// second moments about the centre of mass, the potential of bodies softened as Plummer spheres is, to second order in
/// the cell's size over R,
///   -M / R + tr Q / (2 R^3) - 3 D Q D / (2 R^5),
/// and its gradient adds to the monopole's M D / R^3
///   -3 / R^5 (Q D + (tr Q / 2 - 5/2 D Q D / R^2) D).
/// Binney and Tremaine, Galactic Dynamics (2nd ed.), 2.4; Hernquist 1987 for trees. The second moments are not made
/// traceless, since only without softening would the trace drop out. Of attract-repel's repulsion the cell has the
/// monopole alone. Beyond distances of some 1e8 the quadrupole loses its digits, and from 1e9 on it is zero, as R^-5
/// underflows; nothing overflows.
template <class Real, class PairLaw>
ORRERY_HD void add_cell_pull(Vec3Of<Real>& acceleration, const PairLaw& law, const QuadrupoleUnits<Real>& units,
                             Real dx, Real dy, Real dz, Real mass, const Quadrupole<Real>& q) {
  const Real inverse = law.inverse_distance(dx, dy, dz);
  const Real inverse_sq = inverse * inverse, inverse_5 = units.fifth * (inverse_sq * inverse_sq * inverse);
  const Real qx = multiply_add(q.xz, dz, multiply_add(q.xy, dy, q.xx * dx));
  const Real qy = multiply_add(q.yz, dz, multiply_add(q.yy, dy, q.xy * dx));
  const Real qz = multiply_add(q.zz, dz, multiply_add(q.yz, dy, q.xz * dx));
  const Real dqd = multiply_add(qz, dz, multiply_add(qy, dy, qx * dx));
  const Real outward = multiply_add(units.minus_five_halves * inverse_sq, dqd, q.half_trace);
  const Real along = multiply_add(inverse_5, outward, law.factor_at(inverse, mass));
  acceleration.x = multiply_add(along, dx, multiply_add(inverse_5, qx, acceleration.x));
  acceleration.y = multiply_add(along, dy, multiply_add(inverse_5, qy, acceleration.y));
  acceleration.z = multiply_add(along, dz, multiply_add(inverse_5, qz, acceleration.z));
}
