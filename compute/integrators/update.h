// Kicks and drifts of bodies in float or double, for host and device.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "compute/core/vec.h"
#include "compute/kernels/epilogue.h"

namespace orrery {

/// The arrays that updates change, in host or device memory, with one entry per body. Low words: see DoubleFloat.
struct StateArrays {
  Vec4* positions = nullptr;
  Vec4* velocities = nullptr;
  const Vec4* accelerations = nullptr;  ///< not read by an update without a kick
  Vec4* positions_low = nullptr;        ///< null under Digits::single, as is velocities_low
  Vec4* velocities_low = nullptr;
  const Vec4* accelerations_low = nullptr;  ///< null: the kernel computes no low words

  bool compensated() const { return positions_low != nullptr; }
};

/// One body of StateArrays. An update in double uses the low words, an update in float does not.
struct BodyState {
  Vec4 position, velocity, position_low, velocity_low;
};

/// Calls visit(Real{}): with double if the bodies have low words, with float otherwise.
template <class Visitor>
decltype(auto) visit_precision(const StateArrays& arrays, Visitor&& visit) {
  return arrays.compensated() ? visit(double{}) : visit(float{});
}

template <class Real>
inline constexpr bool uses_low_words = sizeof(Real) == sizeof(double);

template <class Real>
ORRERY_HD inline BodyState load_body(const StateArrays& arrays, int i) {
  BodyState body{arrays.positions[i], arrays.velocities[i], {}, {}};
  if constexpr (uses_low_words<Real>) {
    body.position_low = arrays.positions_low[i];
    body.velocity_low = arrays.velocities_low[i];
  }
  return body;
}

/// Parts of a body that an update changes.
struct BodyChange {
  bool moves = true, kicks = true;
};

template <class Real>
ORRERY_HD inline void store_body(const StateArrays& arrays, int i, const BodyState& body, BodyChange change) {
  if (change.moves) arrays.positions[i] = body.position;
  if (change.kicks) arrays.velocities[i] = body.velocity;
  if constexpr (uses_low_words<Real>) {
    if (change.moves) arrays.positions_low[i] = body.position_low;
    if (change.kicks) arrays.velocities_low[i] = body.velocity_low;
  }
}

template <class Real>
ORRERY_HD inline Vec3Of<Real> load_acceleration(const StateArrays& arrays, int i) {
  Vec4 low;
  if constexpr (uses_low_words<Real>) {
    if (arrays.accelerations_low) low = arrays.accelerations_low[i];
  }
  return joined<Real>(arrays.accelerations[i], low);
}

ORRERY_HD inline bool is_finite(const Vec4& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
}

ORRERY_HD inline bool is_finite(const Vec4& position, const Vec4& velocity) {
  return is_finite(position) && is_finite(velocity);
}

/// Returns the first body whose position, mass or velocity is infinite or NaN; -1 if there is none.
inline int first_not_finite(std::span<const Vec4> positions, std::span<const Vec4> velocities) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!is_finite(positions[i], velocities[i])) return static_cast<int>(i);
  }
  return -1;
}

/// Kicks a body: v += (a - D v / m) kick_dt. The mass is position.w.
template <class Real>
ORRERY_HD inline void kick_body(BodyState& body, const Vec3Of<Real>& a, Real kick_dt, float drag) {
  const Vec3Of<Real> v = joined<Real>(body.velocity, body.velocity_low);
  split(Epilogue::kicked(v, a, body.position.w, drag, kick_dt), body.velocity, body.velocity_low);
}

/// Does StepOps::kick_drift() for one body, on host and device: kick_body() unless kick_dt is 0, then x += v drift_dt.
/// The mass stays in position.w.
template <class Real>
ORRERY_HD inline void kick_drift_body(BodyState& body, const Vec3Of<Real>& a, Real kick_dt, float drag, Real drift_dt) {
  Vec3Of<Real> x = joined<Real>(body.position, body.position_low);
  Vec3Of<Real> v = joined<Real>(body.velocity, body.velocity_low);
  if (kick_dt != 0) {
    v = Epilogue::kicked(v, a, body.position.w, drag, kick_dt);
    split(v, body.velocity, body.velocity_low);
  }
  x.x += v.x * drift_dt;
  x.y += v.y * drift_dt;
  x.z += v.z * drift_dt;
  split(x, body.position, body.position_low);
}

/// Calls update(body, i), which changes a BodyState and returns the changed parts, for all bodies in host memory.
/// Returns the first body that is not finite afterwards, or -1.
template <class Real, class Update>
int update_bodies(const StateArrays& arrays, int count, Update&& update) {
  int first = -1;
  for (int i = 0; i < count; ++i) {
    BodyState body = load_body<Real>(arrays, i);
    store_body<Real>(arrays, i, body, update(body, i));
    if (first < 0 && !is_finite(body.position, body.velocity)) first = i;
  }
  return first;
}

/// Calls kick_drift_body() for all bodies in host memory. Returns the first body that is not finite afterwards, or -1.
inline int kick_drift(const StateArrays& arrays, int count, double kick_dt, float drag, double drift_dt) {
  return visit_precision(arrays, [&]<class Real>(Real) {
    return update_bodies<Real>(arrays, count, [&](BodyState& body, int i) {
      const Vec3Of<Real> a = kick_dt != 0 ? load_acceleration<Real>(arrays, i) : Vec3Of<Real>{};
      kick_drift_body<Real>(body, a, static_cast<Real>(kick_dt), drag, static_cast<Real>(drift_dt));
      return BodyChange{.moves = drift_dt != 0, .kicks = kick_dt != 0};
    });
  });
}

}  // namespace orrery
