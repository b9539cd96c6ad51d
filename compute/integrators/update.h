#pragma once

#include "compute/integrators/body_state.h"
#include "compute/integrators/finite.h"
#include "compute/kernels/epilogue.h"

namespace orrery {

/// v += (a - D v / m) kick_dt. The mass is position.w.
template <class Real>
ORRERY_HD inline void kick_body(BodyState& body, const Vec3Of<Real>& a, Real kick_dt, float drag) {
  const Vec3Of<Real> v = joined<Real>(body.velocity, body.velocity_low);
  split(Epilogue::kicked(v, a, body.position.w, drag, kick_dt), body.velocity, body.velocity_low);
}

/// One body's part of StepOps::kick_drift, on every machine: kick_body() unless kick_dt is 0, then x += v drift_dt. The
/// mass stays in position.w.
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

/// For all bodies in host memory, calls update(body, i), which changes a BodyState and returns what it changed.
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

/// kick_drift_body for all bodies in host memory; see update_bodies() for what it returns.
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
