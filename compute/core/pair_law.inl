// Pair laws, one source for all machines. No include guard: law.h includes this file once, for scalars on host and
// device. A SIMD kernel includes it once per instruction set, inside that set's namespace, because a compiler inlines a
// function only into callers that have at least its instruction set.
//
// `Real` is float, double or a SIMD vector with the operators + - *. reciprocal_sqrt(Real) and multiply_add(a, b, c) =
// a b + c must be declared before. Each law computes the factor s of
//   a_i += s (x_j - x_i, y_j - y_i, z_j - z_i)
// for body j of the given mass, in two steps: inverse_distance(), then factor_at(). A kernel can do other work between
// them while the reciprocal square root is computed. With the mass of body i too, factor_at() is the factor of the
// force. pull_at() is s times the softened distance. A pair i = i adds s times zero; softening_sq > 0 keeps s finite
// there. factor_rate_at() is ds/dt, where `along` is (x_j - x_i) . (v_j - v_i); it needs scaled(float, Real), and a
// root without the scale below.
//
// A type may define scaled_reciprocal_sqrt(x), a constant times 1/sqrt(x), instead of reciprocal_sqrt(x). Masses and H
// are then given in units that cancel the constant.

/// Returns 1 / sqrt(r^2 + eps^2).
template <class Real>
ORRERY_HD Real inverse_softened_distance(Real dx, Real dy, Real dz, Real softening_sq) {
  const Real softened_sq = multiply_add(dz, dz, multiply_add(dy, dy, multiply_add(dx, dx, softening_sq)));
  if constexpr (requires { scaled_reciprocal_sqrt(softened_sq); }) {
    return scaled_reciprocal_sqrt(softened_sq);
  } else {
    return reciprocal_sqrt(softened_sq);
  }
}

/// Plummer-softened gravity, G = 1: s = m / (r^2 + eps^2)^(3/2). The CUDA Handbook, 14.2 (docs/literature.md).
template <class Real>
struct Gravity {
  Real softening_sq;

  ORRERY_HD Real inverse_distance(Real dx, Real dy, Real dz) const {
    return inverse_softened_distance(dx, dy, dz, softening_sq);
  }
  ORRERY_HD Real factor_at(Real inverse, Real mass) const { return (mass * inverse) * (inverse * inverse); }
  ORRERY_HD Real pull_at(Real inverse, Real mass) const { return mass * (inverse * inverse); }
  ORRERY_HD Real factor_at(Real inverse, Real mass, Real other_mass) const {
    return (mass * inverse) * (other_mass * (inverse * inverse));
  }
  ORRERY_HD Real factor_rate_at(Real inverse, Real mass, Real along) const {
    return factor_at(inverse, mass) * scaled(-3, along * (inverse * inverse));
  }
  ORRERY_HD Real factor(Real dx, Real dy, Real dz, Real mass) const {
    return factor_at(inverse_distance(dx, dy, dz), mass);
  }
};

/// F = m1 m2 / r^2 - H m1 m2 / r^4 with r^2 softened as above: s = m (1 - H / r^2) / r^3. From Brute Force N-Body
/// Optimization (docs/literature.md). The drag acts on single bodies, so the kick applies it (see Epilogue).
template <class Real>
struct AttractRepel {
  Real softening_sq;
  Real repulsion;  ///< H
  Real one;

  ORRERY_HD Real inverse_distance(Real dx, Real dy, Real dz) const {
    return inverse_softened_distance(dx, dy, dz, softening_sq);
  }
  ORRERY_HD Real factor_at(Real inverse, Real mass) const {
    const Real inverse_sq = inverse * inverse;
    return (mass * inverse) * (inverse_sq * (one - repulsion * inverse_sq));
  }
  ORRERY_HD Real pull_at(Real inverse, Real mass) const {
    const Real inverse_sq = inverse * inverse;
    return mass * (inverse_sq * (one - repulsion * inverse_sq));
  }
  ORRERY_HD Real factor_at(Real inverse, Real mass, Real other_mass) const {
    const Real inverse_sq = inverse * inverse;
    return (mass * inverse) * (other_mass * (inverse_sq * (one - repulsion * inverse_sq)));
  }
  /// `along` is 0 for the pair of a body with itself; multiplying it first prevents an overflow there.
  ORRERY_HD Real factor_rate_at(Real inverse, Real mass, Real along) const {
    const Real inverse_sq = inverse * inverse;
    const Real turn = (along * inverse_sq) * (scaled(5, repulsion * inverse_sq) - scaled(3, one));
    return ((mass * inverse) * inverse_sq) * turn;
  }
  ORRERY_HD Real factor(Real dx, Real dy, Real dz, Real mass) const {
    return factor_at(inverse_distance(dx, dy, dz), mass);
  }
};
