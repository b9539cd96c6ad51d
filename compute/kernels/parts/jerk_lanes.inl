// Vectors of floats or doubles for pairs that give jerks. No include guard: a SIMD kernel includes this once for each
// instruction set, inside orrery::HWY_NAMESPACE and an unnamed namespace.

namespace hn = hwy::HWY_NAMESPACE;

/// One vector, with the operations that pair_law.inl and add_pull_and_jerk() need.
template <class T>
struct JerkLanes {
  using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
  static constexpr int count = hn::MaxLanes(Tag{});
  hn::Vec<Tag> v;

  HWY_INLINE static JerkLanes set(T value) { return {hn::Set(Tag{}, value)}; }
  HWY_INLINE static JerkLanes load(const T* aligned) { return {hn::Load(Tag{}, aligned)}; }
  HWY_INLINE double sum() const { return hn::GetLane(hn::SumOfLanes(Tag{}, v)); }

  friend HWY_INLINE JerkLanes operator+(JerkLanes a, JerkLanes b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes operator-(JerkLanes a, JerkLanes b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes operator*(JerkLanes a, JerkLanes b) { return {hn::Mul(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes multiply_add(JerkLanes a, JerkLanes b, JerkLanes c) {
    return {hn::MulAdd(a.v, b.v, c.v)};
  }
  friend HWY_INLINE JerkLanes scaled(T factor, JerkLanes a) { return {hn::Mul(hn::Set(Tag{}, factor), a.v)}; }
  friend HWY_INLINE JerkLanes reciprocal_sqrt(JerkLanes x) { return {hn::Div(hn::Set(Tag{}, T{1}), hn::Sqrt(x.v))}; }
};

#include "compute/core/pair_law.inl"
// After pair_law.inl, which it uses.
#include "compute/kernels/parts/jerk_pair.inl"

/// Calls visit(pair_law) with the pair law of vectors for `law`.
template <class T, class Visitor>
void visit_pair_law_of_lanes(const Law& law, const Visitor& visit) {
  using Lanes = JerkLanes<T>;
  const Lanes softening_sq = Lanes::set(static_cast<T>(law.softening) * static_cast<T>(law.softening));
  if (law.id == LawId::attract_repel) {
    visit(AttractRepel<Lanes>{softening_sq, Lanes::set(static_cast<T>(law.repulsion)), Lanes::set(1)});
  } else {
    visit(Gravity<Lanes>{softening_sq});
  }
}
