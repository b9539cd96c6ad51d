#pragma once

#include "compute/core/vec.h"

// Coordinates as two floats, a high and a low word: see DoubleFloat.
namespace orrery {

/// The coordinates as `Real`: double is high + low, float is high alone.
template <class Real>
ORRERY_HD inline Vec3Of<Real> joined(const Vec4& high, const Vec4& low);
template <>
ORRERY_HD inline Vec3 joined<float>(const Vec4& high, const Vec4& /*low*/) {
  return {high.x, high.y, high.z};
}
template <>
ORRERY_HD inline Vec3d joined<double>(const Vec4& high, const Vec4& low) {
  return {static_cast<double>(high.x) + low.x, static_cast<double>(high.y) + low.y,
          static_cast<double>(high.z) + low.z};
}

ORRERY_HD inline Vec3 rounded(const Vec3d& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
ORRERY_HD inline Vec3 rounded(const Vec3& v) {
  return v;
}

/// `v` rounded to float. GCC 12 takes x - (double)(float)x for 0 when it vectorizes, so it must not see the rounding.
ORRERY_HD inline float high_word(double v) {
  float high = static_cast<float>(v);
#if !defined(__CUDA_ARCH__)
  asm("" : "+m"(high));
#endif
  return high;
}

ORRERY_HD inline void split(double value, float& high, float& low) {
  high = high_word(value), low = static_cast<float>(value - high);
}

/// A coordinate as two floats: `high` is the coordinate rounded to float, `low` is the rest rounded to float. Their sum
/// has 48 bits of mantissa or more, 2^-49 relative, unless `low` is subnormal.
struct DoubleFloat {
  float high, low;
  ORRERY_HD static DoubleFloat of(double value) {
    DoubleFloat words{};
    split(value, words.high, words.low);
    return words;
  }
  /// a - b rounded to float. The first difference is exact if the two are within a factor of 2 of each other, so that
  /// close bodies keep the digits of `low`.
  friend ORRERY_HD float operator-(const DoubleFloat& a, const DoubleFloat& b) {
    return (a.high - b.high) + (a.low - b.low);
  }
};

/// Writes the coordinates; w stays. Of floats, there is no low word to write.
ORRERY_HD inline void split(const Vec3& v, Vec4& high, Vec4& /*low*/) {
  high.x = v.x, high.y = v.y, high.z = v.z;
}
ORRERY_HD inline void split(const Vec3d& v, Vec4& high, Vec4& low) {
  split(v.x, high.x, low.x);
  split(v.y, high.y, low.y);
  split(v.z, high.z, low.z);
}

}  // namespace orrery
