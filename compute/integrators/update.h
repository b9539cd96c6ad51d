#pragma once

#include <cstddef>
#include <span>

#include "compute/core/vec.h"
#include "compute/integrators/finite.h"
#include "compute/kernels/epilogue.h"

namespace orrery {

/// One body's part of StepOps::kick_drift, on every machine: v += (a - D v / m) kick_dt unless kick_dt is 0, then
/// x += v drift_dt. The mass stays in position.w.
ORRERY_HD inline void kick_drift_body(Vec4& position, Vec4& velocity, const Vec4& acceleration, float kick_dt,
                                      float drag, float drift_dt) {
  if (kick_dt != 0) {
    const Vec3 a{acceleration.x, acceleration.y, acceleration.z};
    velocity = Epilogue::kicked(velocity, a, position.w, drag, kick_dt);
  }
  position.x += velocity.x * drift_dt;
  position.y += velocity.y * drift_dt;
  position.z += velocity.z * drift_dt;
}

/// kick_drift_body for all bodies in host memory. The spans have one entry per body; `accelerations` is not read, and
/// may be empty, where kick_dt is 0. Returns the first body that is not finite afterwards, or -1.
inline int kick_drift(std::span<Vec4> positions, std::span<Vec4> velocities, std::span<const Vec4> accelerations,
                      float kick_dt, float drag, float drift_dt) {
  int first = -1;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    kick_drift_body(positions[i], velocities[i], kick_dt != 0 ? accelerations[i] : Vec4{}, kick_dt, drag, drift_dt);
    if (first < 0 && !is_finite(positions[i], velocities[i])) first = static_cast<int>(i);
  }
  return first;
}

}  // namespace orrery
