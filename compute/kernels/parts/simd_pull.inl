// Inner loops of SIMD kernels over bodies in columns. No include guard: a SIMD kernel includes this after simd.inl, in
// the same namespace.

/// Adds the lane sums of `rows` points to `sums`: three vectors per point, for x, y and z.
template <int rows>
HWY_INLINE void add_lane_sums(const Lanes* ax, const Lanes* ay, const Lanes* az, float* sums) {
  for (int r = 0; r < rows; ++r) {
    for (const Lanes sum : {ax[r], ay[r], az[r]}) {
      store(load(sums) + sum, sums);
      sums += lane_count;
    }
  }
}

/// Returns the acceleration of a point from its lane sums.
HWY_INLINE Vec3 acceleration_of(const float* sums) {
  return {sum_of_lanes(load(sums)), sum_of_lanes(load(sums + lane_count)), sum_of_lanes(load(sums + 2 * lane_count))};
}

/// Adds the pull of bodies [begin, end) on `rows` points to the points' lane sums, three vectors each. The range
/// consists of whole vectors. All points share each load of a vector of bodies.
template <int rows, class PairLaw>
HWY_NOINLINE void add_bodies(const float* x, const float* y, const float* z, const float* mass, int begin, int end,
                             const PairLaw& pair_law, const Vec4* points, float* sums) {
  const PairLaw law = pair_law;
  Lanes px[rows], py[rows], pz[rows], ax[rows], ay[rows], az[rows];
  for (int r = 0; r < rows; ++r) {
    px[r] = lanes(points[r].x);
    py[r] = lanes(points[r].y);
    pz[r] = lanes(points[r].z);
    ax[r] = ay[r] = az[r] = lanes(0);
  }
  for (int j = begin; j < end; j += lane_count) {
    const Lanes xj = load(x + j), yj = load(y + j), zj = load(z + j);
    const Lanes mj = load(mass + j);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const Lanes dx = xj - px[r], dy = yj - py[r], dz = zj - pz[r];
      const Lanes s = law.factor(dx, dy, dz, mj);
      ax[r] = multiply_add(s, dx, ax[r]);
      ay[r] = multiply_add(s, dy, ay[r]);
      az[r] = multiply_add(s, dz, az[r]);
    }
  }
  add_lane_sums<rows>(ax, ay, az, sums);
}

/// Adds the pull of bodies at (dx, dy, dz) with these masses to `a`. If `mutual`, adds the opposite pull to `b`;
/// `minus_mass` is the negative of the own mass.
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
