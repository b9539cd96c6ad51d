#pragma once

#include "compute/core/vec.h"

// A coordinate as two floats, high and low: `high` is the sum rounded to float, `low` is the rest rounded to float. The
// sum has 48 bits of mantissa or more, 2^-49 relative, unless `low` is subnormal.
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

/// Writes the coordinates; w stays. Of floats, there is no low word to write.
ORRERY_HD inline void split(const Vec3& v, Vec4& high, Vec4& /*low*/) {
  high.x = v.x, high.y = v.y, high.z = v.z;
}
ORRERY_HD inline void split(const Vec3d& v, Vec4& high, Vec4& low) {
  high.x = high_word(v.x), low.x = static_cast<float>(v.x - high.x);
  high.y = high_word(v.y), low.y = static_cast<float>(v.y - high.y);
  high.z = high_word(v.z), low.z = static_cast<float>(v.z - high.z);
}

}  // namespace orrery
