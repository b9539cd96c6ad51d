// A pair of vectors of bodies that pull each other. No include guard: a SIMD kernel includes this after simd_lanes.inl,
// in the same namespace.

/// Adds the pull of bodies that are (dx, dy, dz) away and have these masses to `a`. If `mutual`, adds the pull in the
/// other direction, for which the own mass is given with a minus sign, to `b`.
template <bool mutual, class PairLaw, class Lanes>
HWY_INLINE void add_mutual_pull(const PairLaw& law, Lanes dx, Lanes dy, Lanes dz, Lanes mass, Lanes minus_mass,
                                Vec3Of<Lanes>& a, [[maybe_unused]] Vec3Of<Lanes>& b) {
  const Lanes s = law.factor(dx, dy, dz, lanes(1));  // per unit mass: the two masses differ
  const Lanes to_me = s * mass;
  a.x = multiply_add(to_me, dx, a.x);
  a.y = multiply_add(to_me, dy, a.y);
  a.z = multiply_add(to_me, dz, a.z);
  if constexpr (mutual) {
    const Lanes to_other = s * minus_mass;
    b.x = multiply_add(to_other, dx, b.x);
    b.y = multiply_add(to_other, dy, b.y);
    b.z = multiply_add(to_other, dz, b.z);
  }
}
