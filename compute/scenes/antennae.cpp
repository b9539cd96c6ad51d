#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

// Both discs are tilted by 37 degrees against the orbit. The system looks the same after half a turn about z.
constexpr Tilt first_tilt{0.8, 0.6, 0.8, 0.6}, second_tilt{0.8, -0.6, 0.8, 0.6};

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  const double softening = softening_for(count, 0.016);
  const Galaxy galaxy{.mass = 0.5, .scale_length = 0.25, .softening = softening};
  const int in_first = (count + 1) / 2;
  Draft draft = encounter({.first = galaxy,
                           .second = galaxy,
                           .first_tilt = first_tilt,
                           .second_tilt = second_tilt,
                           .start_distance = 3.6,
                           .closest_distance = 0.85},  // reached at t = 4.1
                          in_first, count - in_first, random);
  return {.name = "antennae",
          .bodies = finished(std::move(draft)),
          .time_step = static_cast<float>(0.4 * softening),
          .softening = static_cast<float>(softening),
          .parts = parts_in_order({{"galaxy 1", in_first}, {"galaxy 2", count - in_first}})};
}

}  // namespace

extern const SceneInfo scene_antennae;
constinit const SceneInfo scene_antennae{
    .id = "antennae",
    .title = "Antennae",
    .notes = "Two equal disc galaxies on a parabolic orbit that turn with it: each throws out a long tidal tail.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 2,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
