#include "compute/scenes/encounter.h"

#include <cmath>

namespace orrery {

Draft encounter(const Encounter& design, int in_first, int in_second, Random& random) {
  const double speed = std::sqrt(2 / design.start_distance);
  const double sideways = std::sqrt(2 * design.closest_distance) / design.start_distance;
  const Vec3d velocity{-std::sqrt(speed * speed - sideways * sideways), sideways, 0};

  Draft draft;
  append_galaxy(draft, design.first, in_first, random);
  append_galaxy(draft, design.second, in_second, random);
  for (std::size_t i = 0; i < draft.size(); ++i) {
    auto& [m, x, v] = draft[i];
    const bool first = i < static_cast<std::size_t>(in_first);
    const Tilt& tilt = first ? design.first_tilt : design.second_tilt;
    x = tilt(x);
    v = tilt(v);
    if (first) continue;
    x.x += design.start_distance;
    v = {v.x + velocity.x, v.y + velocity.y, v.z};
  }
  return draft;
}

}  // namespace orrery
