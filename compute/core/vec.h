// Vectors, coordinates as two floats, and bodies in double precision, for host and device. Kernels that are compiled at
// run time include this file too.
#pragma once

/// Marks a function that both the host and the CUDA device compilers see.
#if defined(__CUDACC__)
#define ORRERY_HD __host__ __device__
#else
#define ORRERY_HD
#endif

namespace orrery {

/// Four floats with an alignment of 16 bytes: nvcc loads and stores them with one instruction, like a float4.
struct alignas(16) Vec4 {
  float x = 0, y = 0, z = 0, w = 0;
  friend bool operator==(const Vec4&, const Vec4&) = default;
};

template <class Real>
struct Vec3Of {
  Real x{}, y{}, z{};
  friend bool operator==(const Vec3Of&, const Vec3Of&) = default;
};

using Vec3 = Vec3Of<float>;
using Vec3d = Vec3Of<double>;

/// Returns the coordinates as `Real`: high + low as doubles, or high alone as floats.
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

/// Returns `v` rounded to float. When GCC 12 vectorizes, it replaces x - (double)(float)x by 0; the asm hides the
/// rounding from it.
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
  /// Returns a - b rounded to float. The first difference is exact if the two are within a factor of 2 of each other,
  /// so that close bodies keep the digits of `low`.
  friend ORRERY_HD float operator-(const DoubleFloat& a, const DoubleFloat& b) {
    return (a.high - b.high) + (a.low - b.low);
  }
};

/// Stores the coordinates of `v` and leaves w unchanged. Floats have no low part.
ORRERY_HD inline void split(const Vec3& v, Vec4& high, Vec4& /*low*/) {
  high.x = v.x, high.y = v.y, high.z = v.z;
}

ORRERY_HD inline void split(const Vec3d& v, Vec4& high, Vec4& low) {
  split(v.x, high.x, low.x);
  split(v.y, high.y, low.y);
  split(v.z, high.z, low.z);
}

/// Body in double precision: differences between close bodies keep their digits.
struct alignas(16) PreciseBody {
  Vec3d position;
  double mass = 0;
  Vec3d velocity;
};

/// Returns a body without velocity. The mass is in w.
ORRERY_HD inline PreciseBody at_rest(const Vec4& body) {
  return {{body.x, body.y, body.z}, body.w, {}};
}

/// Acceleration of a body and its time derivative, the jerk.
struct Pull {
  Vec3d acceleration, jerk;
};

}  // namespace orrery
