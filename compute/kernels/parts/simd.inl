// Float vectors for the pair laws. No include guard: a SIMD kernel includes this once per instruction set, inside
// orrery::HWY_NAMESPACE and an unnamed namespace.

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::CappedTag<float, max_lanes>;
using Vector = hn::Vec<FloatTag>;
constexpr int lane_count = hn::MaxLanes(FloatTag{});

/// SIMD vector of floats, with the operations that pair_law.inl needs.
struct Lanes {
  Vector v;
  friend HWY_INLINE Lanes operator+(Lanes a, Lanes b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE Lanes operator-(Lanes a, Lanes b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE Lanes operator*(Lanes a, Lanes b) { return {hn::Mul(a.v, b.v)}; }
  friend HWY_INLINE Lanes operator*(float a, Lanes b) { return {hn::Mul(hn::Set(FloatTag{}, a), b.v)}; }
  friend HWY_INLINE Lanes operator/(Lanes a, Lanes b) { return {hn::Div(a.v, b.v)}; }
  friend HWY_INLINE Lanes operator-(Lanes a) { return {hn::Neg(a.v)}; }
};

HWY_INLINE Lanes lanes(float value) {
  return {hn::Set(FloatTag{}, value)};
}
HWY_INLINE Lanes load(const float* aligned) {
  return {hn::Load(FloatTag{}, aligned)};
}
HWY_INLINE Lanes load_unaligned(const float* at) {
  return {hn::LoadU(FloatTag{}, at)};
}
HWY_INLINE void store(Lanes value, float* aligned) {
  hn::Store(value.v, FloatTag{}, aligned);
}
HWY_INLINE Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
  return {hn::MulAdd(a.v, b.v, c.v)};
}
HWY_INLINE float sum_of_lanes(Lanes value) {
  return hn::GetLane(hn::SumOfLanes(FloatTag{}, value.v));
}

/// Returns lane_root_scale / sqrt(x). The factor of 2 saves a multiplication by 1/2 in Newton's step.
HWY_INLINE Lanes scaled_reciprocal_sqrt(Lanes x) {
  static_assert(lane_root_scale == 2);
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  // An estimate i of 11 bits (14 with AVX-512), and one Newton step: i (3 - x i^2) = 2/sqrt(x) to 22 bits or more.
  const Vector estimate = hn::ApproximateReciprocalSqrt(x.v);
  return {hn::Mul(estimate, hn::NegMulAdd(hn::Mul(x.v, estimate), estimate, hn::Set(FloatTag{}, 3.0f)))};
#else
  return {hn::Div(hn::Set(FloatTag{}, 2.0f), hn::Sqrt(x.v))};  // other targets' estimates may have only 8 bits
#endif
}

#include "compute/core/pair_law.inl"

/// Calls visit(pair_law), where pair_law computes `law` on vectors. pair_law takes masses times lane_mass_scale.
template <class Visitor>
void visit_pair_law_of_lanes(const Law& law, const Visitor& visit) {
  const Lanes softening_sq = lanes(law.softening * law.softening);
  if (law.id == LawId::attract_repel) {
    visit(AttractRepel<Lanes>{softening_sq, lanes(law.repulsion * lane_repulsion_scale), lanes(1)});
  } else {
    visit(Gravity<Lanes>{softening_sq});
  }
}

const char* target_name() {
  return simd_name(HWY_TARGET);
}
