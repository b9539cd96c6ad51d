#pragma once

#include <cstdint>

#include "compute/core/force_law.h"
#include "compute/core/vec.h"

namespace orrery {

#include "compute/kernels/tree/cell_pull.inl"

ORRERY_HD constexpr float constant_like(float, float value) {
  return value;
}

#include "compute/kernels/tree/local_expansion.inl"

/// How cells pull on bodies.
enum class FarField : std::uint8_t {
  monopole,    ///< by their masses
  quadrupole,  ///< by their second moments too
  local,       ///< likewise; cells far from a group of bodies by one local expansion for the group. Of gravity only
  high         ///< likewise, with moments and an expansion of the orders in high_expansion.h
};

/// Of scalars, whose inverse_distance() is 1/r.
ORRERY_HD constexpr QuadrupoleUnits<float> scalar_units() {
  return {1, -2.5f};
}

ORRERY_HD inline Quadrupole<float> quadrupole_of(const SecondMoments<float>& q) {
  return {-3 * q.xx, -3 * q.yy, -3 * q.zz, -3 * q.xy, -3 * q.xz, -3 * q.yz, -1.5f * (q.xx + q.yy + q.zz)};
}

/// Where the opening angle alone decides, a group's local expansion takes the cells beyond this many radii of the
/// group, over theta. So the expansion adds little to the errors of the cells themselves (docs/measurements/trees.md).
inline constexpr float local_radii = 2.5f;
/// Beyond this distance, terms of the expansion underflow.
inline constexpr float farthest_local = 1e7f;

/// The pull of an expansion at an offset (x, y, z) from its centre.
ORRERY_HD inline Vec3 pull_at(const LocalExpansion<float>& expansion, float x, float y, float z) {
  using L = LocalExpansion<float>;
  const float* a = expansion.at;
  // Of the third-order terms, a third: contracted with y three times, and added with the factors 1/3, 1/2 and 1.
  const float tx = x / 3, ty = y / 3, tz = z / 3;
  const float xxx = a[L::xxx] + a[L::xxxx] * tx + a[L::xxxy] * ty + a[L::xxxz] * tz;
  const float xxy = a[L::xxy] + a[L::xxxy] * tx + a[L::xxyy] * ty + a[L::xxyz] * tz;
  const float xxz = a[L::xxz] + a[L::xxxz] * tx + a[L::xxyz] * ty + a[L::xxzz] * tz;
  const float xyy = a[L::xyy] + a[L::xxyy] * tx + a[L::xyyy] * ty + a[L::xyyz] * tz;
  const float xyz = a[L::xyz] + a[L::xxyz] * tx + a[L::xyyz] * ty + a[L::xyzz] * tz;
  const float xzz = a[L::xzz] + a[L::xxzz] * tx + a[L::xyzz] * ty + a[L::xzzz] * tz;
  const float yyy = a[L::yyy] + a[L::xyyy] * tx + a[L::yyyy] * ty + a[L::yyyz] * tz;
  const float yyz = a[L::yyz] + a[L::xyyz] * tx + a[L::yyyz] * ty + a[L::yyzz] * tz;
  const float yzz = a[L::yzz] + a[L::xyzz] * tx + a[L::yyzz] * ty + a[L::yzzz] * tz;
  const float zzz = a[L::zzz] + a[L::xzzz] * tx + a[L::yzzz] * ty + a[L::zzzz] * tz;
  const float hx = x / 2, hy = y / 2, hz = z / 2;
  const float xx = a[L::xx] + xxx * hx + xxy * hy + xxz * hz, xy = a[L::xy] + xxy * hx + xyy * hy + xyz * hz;
  const float xz = a[L::xz] + xxz * hx + xyz * hy + xzz * hz, yy = a[L::yy] + xyy * hx + yyy * hy + yyz * hz;
  const float yz = a[L::yz] + xyz * hx + yyz * hy + yzz * hz, zz = a[L::zz] + xzz * hx + yzz * hy + zzz * hz;
  return {a[L::x] + xx * x + xy * y + xz * z, a[L::y] + xy * x + yy * y + yz * z, a[L::z] + xz * x + yz * y + zz * z};
}

/// The far field of a cell.
struct Moments {
  Vec4 center;             ///< of mass; the mass in w
  SecondMoments<float> q;  ///< about the centre of mass
};

/// Adds the second moments of a body, or of a cell, about a point that is (dx, dy, dz) from its centre of mass.
ORRERY_HD inline void add_second_moments(SecondMoments<float>& q, float dx, float dy, float dz, const Vec4& body) {
  const float mx = body.w * dx, my = body.w * dy, mz = body.w * dz;
  q.xx += mx * dx;
  q.yy += my * dy;
  q.zz += mz * dz;
  q.xy += mx * dy;
  q.xz += mx * dz;
  q.yz += my * dz;
}
ORRERY_HD inline void add_second_moments(SecondMoments<float>& q, float dx, float dy, float dz, const Moments& cell) {
  add_second_moments(q, dx, dy, dz, cell.center);
  q.xx += cell.q.xx;
  q.yy += cell.q.yy;
  q.zz += cell.q.zz;
  q.xy += cell.q.xy;
  q.xz += cell.q.xz;
  q.yz += cell.q.yz;
}

ORRERY_HD inline const Vec4& center_of(const Vec4& body) {
  return body;
}
ORRERY_HD inline const Vec4& center_of(const Moments& cell) {
  return cell.center;
}

/// The moments of `count` >= 1 bodies or cells: part(i) is a Vec4 (the mass in w) or Moments. part() is called twice
/// for each: sums about a part, and then about the centre of mass, keep their digits far from the origin.
template <class Part>
ORRERY_HD Moments combined_moments(int count, const Part& part) {
  const Vec4 origin = center_of(part(0));
  Vec4 sum;
  for (int i = 0; i < count; ++i) {
    const Vec4 at = center_of(part(i));
    sum.x += at.w * (at.x - origin.x);
    sum.y += at.w * (at.y - origin.y);
    sum.z += at.w * (at.z - origin.z);
    sum.w += at.w;
  }
  Moments all;
  all.center = origin;  // of massless bodies
  if (sum.w > 0) all.center = {origin.x + sum.x / sum.w, origin.y + sum.y / sum.w, origin.z + sum.z / sum.w, sum.w};
  for (int i = 0; i < count; ++i) {
    const auto& one = part(i);
    const Vec4 at = center_of(one);
    add_second_moments(all.q, at.x - all.center.x, at.y - all.center.y, at.z - all.center.z, one);
  }
  return all;
}

}  // namespace orrery
