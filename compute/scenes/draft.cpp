#include "compute/scenes/draft.h"

namespace orrery {

Bodies finished(Draft draft) {
  double mass = 0;
  Vec3d centre, momentum;
  for (const DraftBody& body : draft) {
    mass += body.mass;
    centre.x += body.mass * body.position.x;
    centre.y += body.mass * body.position.y;
    centre.z += body.mass * body.position.z;
    momentum.x += body.mass * body.velocity.x;
    momentum.y += body.mass * body.velocity.y;
    momentum.z += body.mass * body.velocity.z;
  }
  Bodies bodies;
  bodies.positions.reserve(draft.size());
  bodies.velocities.reserve(draft.size());
  for (const DraftBody& body : draft) {
    const auto& [m, x, v] = body;
    bodies.positions.push_back({static_cast<float>(x.x - centre.x / mass), static_cast<float>(x.y - centre.y / mass),
                                static_cast<float>(x.z - centre.z / mass), static_cast<float>(m)});
    bodies.velocities.push_back({static_cast<float>(v.x - momentum.x / mass),
                                 static_cast<float>(v.y - momentum.y / mass),
                                 static_cast<float>(v.z - momentum.z / mass), 0.0f});
  }
  return bodies;
}

}  // namespace orrery
