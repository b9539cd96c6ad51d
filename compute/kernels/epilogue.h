#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// What a force kernel does with a body's acceleration: store it, kick the velocity at once (the fused form of
/// literature row 2), or both. Both pointers are in the memory of the kernel's backend, one entry per body.
struct Epilogue {
  Vec4* accelerations = nullptr;  ///< where to store ax, ay, az, 0; null: not stored
  Vec4* velocities = nullptr;     ///< which velocities to kick; null: no kick
  float kick_dt = 0;              ///< the kick's length in time: v += (a - D v / m) kick_dt
  float drag = 0;                 ///< D of the attract-repel law, 0 under gravity

  /// v after a kick by acceleration `a` for a body of mass `mass` > 0.
  ORRERY_HD static Vec4 kicked(Vec4 v, Vec3 a, float mass, float drag, float dt) {
    const float rate = drag > 0 ? drag / mass : 0.0f;
    v.x += (a.x - rate * v.x) * dt;
    v.y += (a.y - rate * v.y) * dt;
    v.z += (a.z - rate * v.z) * dt;
    return v;
  }

  ORRERY_HD void finish(int i, float mass, Vec3 a) const {
    if (accelerations) accelerations[i] = {a.x, a.y, a.z, 0.0f};
    if (velocities) velocities[i] = kicked(velocities[i], a, mass, drag, kick_dt);
  }
};

}  // namespace orrery
