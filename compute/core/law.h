#pragma once

#include <cmath>
#include <span>
#include <string_view>

#include "compute/core/vec.h"

// Pair laws for scalars. Kernels that are compiled at run time include this file too, so functions of <cmath> are all
// that it uses of the standard library.
namespace orrery {

ORRERY_HD inline float reciprocal_sqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;  // one MUFU.RSQ (2 ulp); rsqrtf() would also handle denormals, which softening excludes
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / std::sqrt(x);
#endif
}
ORRERY_HD inline double reciprocal_sqrt(double x) {
#if defined(__CUDA_ARCH__)
  // rsqrt() has a branch for subnormals. Softening excludes these, and the branch keeps pairs from overlapping. The
  // estimate has at least 19 bits; a third-order step refines it to double precision.
  double estimate;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(x));
  const double error = 1.0 - (x * estimate) * estimate;
  return estimate + (estimate * error) * (0.5 + 0.375 * error);
#else
  return 1.0 / std::sqrt(x);
#endif
}

ORRERY_HD inline float multiply_add(float a, float b, float c) {
  return a * b + c;
}
ORRERY_HD inline double multiply_add(double a, double b, double c) {
  return a * b + c;
}

ORRERY_HD inline float scaled(float factor, float x) {
  return factor * x;
}
ORRERY_HD inline double scaled(double factor, double x) {
  return factor * x;
}

#include "compute/core/pair_law.inl"

enum class LawId { gravity, attract_repel };

/// Pair law with its constants, in units of G = 1. Softening has a minimum because direct sums include the pair of a
/// body with itself: with less, the factor of `attract-repel` could overflow, and infinity times zero is NaN.
struct Law {
  static constexpr float min_softening = 1e-6f;
  /// Lower bound for gravity alone, whose factor m / eps^3 is finite for masses up to 1e8.
  static constexpr float least_gravity_softening = 1e-10f;
  /// Above these, r^2 or a factor could leave the range of float.
  static constexpr float max_softening = 1e12f, max_repulsion = 1e6f, max_drag = 1e6f;

  LawId id = LawId::gravity;
  float softening = 0.02f;   ///< eps, a length in [least_gravity_softening, max_softening]; the sum uses eps^2
  float repulsion = 0.002f;  ///< H in [0, max_repulsion], a length squared; attract-repel only
  float drag = 1e-6f;        ///< D in [0, max_drag], mass per time; attract-repel only, applied by every kick

  /// Returns the drag coefficient under this law; 0 for gravity.
  float effective_drag() const { return id == LawId::attract_repel ? drag : 0.0f; }
  friend bool operator==(const Law&, const Law&) = default;
};

/// Calls visit(pair_law) with `law` as a scalar pair law: a Gravity<Real> or an AttractRepel<Real>.
template <class Real, class Visitor>
decltype(auto) visit_pair_law(const Law& law, Visitor&& visit) {
  const Real softening_sq = static_cast<Real>(law.softening) * static_cast<Real>(law.softening);
  if (law.id == LawId::attract_repel) {
    return visit(AttractRepel<Real>{softening_sq, static_cast<Real>(law.repulsion), Real{1}});
  }
  return visit(Gravity<Real>{softening_sq});
}

/// Adds to the acceleration of a point the contribution of a body of this mass at the offset (dx, dy, dz).
template <class Real, class PairLaw>
ORRERY_HD inline void add_pull_along(Vec3Of<Real>& acceleration, const PairLaw& law, Real dx, Real dy, Real dz,
                                     Real mass) {
  const Real s = law.factor(dx, dy, dz, mass);
  acceleration.x = multiply_add(s, dx, acceleration.x);
  acceleration.y = multiply_add(s, dy, acceleration.y);
  acceleration.z = multiply_add(s, dz, acceleration.z);
}

/// Adds to the acceleration of the point (x, y, z) the contribution of `body`, whose mass is in w. This is the inner
/// step of every scalar direct sum.
template <class Real, class PairLaw, class Body>
ORRERY_HD inline void add_pull(Vec3Of<Real>& acceleration, const PairLaw& law, Real x, Real y, Real z,
                               const Body& body) {
  add_pull_along(acceleration, law, body.x - x, body.y - y, body.z - z, static_cast<Real>(body.w));
}

/// Name and description of a pair law, for the command line and the panel.
struct LawInfo {
  LawId law;
  const char* id;
  const char* title;
  const char* notes;
};
std::span<const LawInfo> laws();
const LawInfo& law_info(LawId law);
/// Returns the law with this id. Throws UsageError that lists the known ids.
LawId find_law(std::string_view id);

}  // namespace orrery
