// Acceleration and jerk of a pair, for scalars and SIMD vectors. No include guard: jerk_pair.h includes this once for
// scalars, and a SIMD kernel includes it once per instruction set, in that set's namespace, like pair_law.inl.

/// A coordinate as the sum of two numbers, like DoubleFloat, for any number type.
template <class Real>
struct DoubleLanesOf {
  Real high, low;
};
template <class Real>
ORRERY_HD Real operator-(const DoubleLanesOf<Real>& a, const DoubleLanesOf<Real>& b) {
  return (a.high - b.high) + (a.low - b.low);
}

/// Sums of the accelerations and jerks of one body.
template <class Real>
struct PullOf {
  Vec3Of<Real> acceleration, jerk;
  ORRERY_HD void add_to(Pull& total) const {
    total.acceleration.x += acceleration.x;
    total.acceleration.y += acceleration.y;
    total.acceleration.z += acceleration.z;
    total.jerk.x += jerk.x;
    total.jerk.y += jerk.y;
    total.jerk.z += jerk.z;
  }
};

/// Adds the pull of body `other` on `me` and the pull's time derivative: a += s r and j += s v + (ds/dt) r (Makino &
/// Aarseth 1992, PASJ 44, 141, eqs. 1 and 2). Here, r = x_other - x_me, v = dr/dt, and s is the factor of the law. A
/// body's pull on itself is zero.
template <class PairLaw, class Body, class Real = typename Body::Real>
ORRERY_HD inline void add_pull_and_jerk(PullOf<Real>& sum, const PairLaw& law, const Body& me, const Body& other) {
  const Real dx = other.position.x - me.position.x;
  const Real dy = other.position.y - me.position.y;
  const Real dz = other.position.z - me.position.z;
  const Real vx = other.velocity.x - me.velocity.x;
  const Real vy = other.velocity.y - me.velocity.y;
  const Real vz = other.velocity.z - me.velocity.z;
  const Real inverse = law.inverse_distance(dx, dy, dz);
  const Real along = multiply_add(dz, vz, multiply_add(dy, vy, dx * vx));
  const Real s = law.factor_at(inverse, other.mass);
  const Real rate = law.factor_rate_at(inverse, other.mass, along);
  sum.acceleration.x = multiply_add(s, dx, sum.acceleration.x);
  sum.acceleration.y = multiply_add(s, dy, sum.acceleration.y);
  sum.acceleration.z = multiply_add(s, dz, sum.acceleration.z);
  sum.jerk.x = multiply_add(s, vx, multiply_add(rate, dx, sum.jerk.x));
  sum.jerk.y = multiply_add(s, vy, multiply_add(rate, dy, sum.jerk.y));
  sum.jerk.z = multiply_add(s, vz, multiply_add(rate, dz, sum.jerk.z));
}
