// Epilogues of force kernels, and the passes over bodies that integrators make.
#pragma once

#include <cstdint>

#include "compute/core/vec.h"

namespace orrery {

/// Bodies whose accelerations are evaluated. The sources are always all bodies.
struct Targets {
  const int* indices = nullptr;  ///< distinct, in any order, in memory of the kernel's backend; null: every body
  int count = 0;                 ///< number of `indices`, from 1 to the number of bodies; ignored if they are null
  int first = -1;                ///< >= 0: the indices are first, first + 1, ...; -1: they are arbitrary

  explicit operator bool() const { return indices != nullptr; }
  /// Returns the index of the `place`-th target.
  ORRERY_HD int body(int place) const { return indices ? indices[place] : place; }
};

/// Use of a body's acceleration in a force kernel: it is stored, kicks the velocity immediately (the fused form,
/// docs/literature.md, row 2), or both. All pointers are in memory of the kernel's backend, with one entry per body.
struct Epilogue {
  Vec4* accelerations = nullptr;  ///< destination of ax, ay, az, 0; null: not stored
  Vec4* velocities = nullptr;     ///< velocities to kick; null: no kick
  float kick_dt = 0;              ///< length of the kick in time: v += (a - D v / m) kick_dt
  float drag = 0;                 ///< D of the attract-repel law, 0 under gravity
  /// Destination of the low words of the accelerations, for kernels with KernelInfo::reads_low_words; null: not stored.
  Vec4* accelerations_low = nullptr;

  /// Returns v after a kick by acceleration `a` for a body of mass `mass`. Drag does not act on massless bodies.
  /// `Vector` is Vec4, or Vec3Of<Real>.
  template <class Vector, class Real>
  ORRERY_HD static Vector kicked(Vector v, Vec3Of<Real> a, float mass, float drag, Real dt) {
    const Real rate = drag > 0 && mass > 0 ? static_cast<Real>(drag) / static_cast<Real>(mass) : Real{0};
    v.x += (a.x - rate * v.x) * dt;
    v.y += (a.y - rate * v.y) * dt;
    v.z += (a.z - rate * v.z) * dt;
    return v;
  }

  template <class Real = float>
  ORRERY_HD void finish(int i, float mass, Vec3Of<Real> a) const {
    if (accelerations) store(i, a);
    if (velocities) velocities[i] = kicked(velocities[i], rounded(a), mass, drag, kick_dt);
  }

 private:
  ORRERY_HD void store(int i, const Vec3& a) const { accelerations[i] = {a.x, a.y, a.z, 0.0f}; }
  ORRERY_HD void store(int i, const Vec3d& a) const {
    Vec4 high, low;
    split(a, high, low);
    accelerations[i] = high;
    if (accelerations_low) accelerations_low[i] = low;
  }
};

}  // namespace orrery

// Input and result of a pass over bodies on CUDA devices.
namespace orrery::cuda {

/// A non-finite body and the pass that found it, packed into one number. The minimum of several findings has the
/// earliest pass and, within that pass, the first body. Passes are numbered in the order in which they run.
struct PackedFinding {
  unsigned long long bits = ~0ull;  ///< initially no finding: larger than any finding

  PackedFinding() = default;
  ORRERY_HD constexpr PackedFinding(std::uint32_t pass, int body)
      : bits{static_cast<unsigned long long>(pass) << 32 | static_cast<std::uint32_t>(body)} {}
  ORRERY_HD constexpr bool is_before(std::uint32_t other_pass) const { return bits >> 32 < other_pass; }
  ORRERY_HD constexpr std::uint32_t pass() const { return static_cast<std::uint32_t>(bits >> 32); }
  ORRERY_HD constexpr int body() const { return static_cast<int>(static_cast<std::uint32_t>(bits)); }
};

/// Memory into which passes over the bodies report the first body that is not finite.
struct NonFiniteReport {
  PackedFinding* d_first = nullptr;  ///< minimum of all findings
  int* seen = nullptr;               ///< host memory that the device can access; set to nonzero by the first finding
  const int* ids = nullptr;          ///< reported numbers of the bodies; null: 0, 1, ...

  ORRERY_HD int number_of(int i) const { return ids ? ids[i] : i; }
};

/// Check for non-finite bodies in a pass. A body that was not finite when the pass began is reported with the pass
/// number `before`, and one that is not finite at its end with `after`. frozen_below <= before <= after.
struct NonFiniteCheck {
  NonFiniteReport report;
  std::uint32_t frozen_below = 0;  ///< the pass does nothing if a pass with a smaller number reported a body
  std::uint32_t before = 0, after = 0;
};

/// A pass over the bodies: the kick that the previous step left out, a kick, and a drift. Each has a length in time; 0:
/// none. Both kicks use the stored accelerations.
struct KickDrift {
  double owed_kick_dt = 0, kick_dt = 0, drift_dt = 0;
  float drag = 0;  ///< D of the attract-repel law, see kick_body() of the integrators
};

}  // namespace orrery::cuda
