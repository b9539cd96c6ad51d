// Far field of a cell. One text serves every machine, as compute/core/pair_law.inl does. No include guard: multipole.h
// includes it for scalars, and a SIMD kernel for each instruction set, inside that set's namespace.

/// Second moments: the sums of m x x, m y y, ... about a point.
template <class Real>
struct SecondMoments {
  Real xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

/// Second moments in the form that a cell's pull takes: times -3, and half the sum of xx, yy and zz.
template <class Real>
struct Quadrupole {
  Real xx, yy, zz, xy, xz, yz, half_trace;
};

/// Factors for a law whose inverse_distance() is `scale` times 1/r, and for a pull that is wanted `times` over.
template <class Real>
struct QuadrupoleUnits {
  Real fourth;             ///< times / scale^5
  Real minus_five_halves;  ///< -5 / (2 scale^2)
};

/// Adds the pull of a cell whose centre of mass is D = (dx, dy, dz) away from a point. Let R^2 = D^2 + eps^2, n = D /
/// R, and Q the second moments about the centre of mass. To second order in the cell's size over R, the potential of
/// Plummer-softened bodies is
///   -M / R + tr Q / (2 R^3) - 3 D Q D / (2 R^5),
/// and its gradient adds to the monopole's M n / R^2
///   -3 / R^4 (Q n + (tr Q / 2 - 5/2 n Q n) n)
/// (Binney and Tremaine, Galactic Dynamics, 2nd ed., 2.4; Hernquist 1987 for trees). Q is not made traceless, since the
/// trace drops out only without softening. Attract-repel's repulsion has the monopole alone. Beyond distances of about
/// 3e9, the quadrupole loses its digits and then is zero, as R^-4 underflows; nothing overflows unless Q has.
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
