// A vector of coordinates of two floats each. No include guard: a SIMD kernel includes this in its own namespace.

template <class Real>
struct DoubleLanesOf {
  Real high, low;
  friend HWY_INLINE Real operator-(const DoubleLanesOf& a, const DoubleLanesOf& b) {
    return (a.high - b.high) + (a.low - b.low);
  }
};
