#include <algorithm>
#include <cmath>

#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

// Masses are 3 to 1, with a total of 1. Radii scale as the square root of the mass, so that both discs are equally
// bright.
constexpr double heavier_mass = 0.75;
constexpr double heavier_scale_length = 0.32;

// Largest number of bodies with warm discs. With more bodies, a warm disc looks like smooth haze, but a cold one grows
// arms. The discs meet after half a rotation, so the arms need strong seeds.
constexpr int most_warm = 16384;
constexpr GalaxyDesign cold_design = [] {
  GalaxyDesign design = cold_disc_design;
  design.seed_bodies = 1000;
  return design;
}();

constexpr Tilt heavier_tilt{0.96, 0.28, 0.8, 0.6};            // 16 degrees to the orbit
constexpr Tilt lighter_tilt{5.0 / 13, 12.0 / 13, 0.6, -0.8};  // 67 degrees

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  const double softening = softening_for(count, 0.02);
  const int in_heavier = std::clamp(static_cast<int>(heavier_mass * count + 0.5), 1, count - 1);
  const double lighter_scale_length = heavier_scale_length * std::sqrt((1 - heavier_mass) / heavier_mass);
  const GalaxyDesign& design = count > most_warm ? cold_design : warm_disc_design;
  Draft draft = encounter({.first = {heavier_mass, heavier_scale_length, softening, design},
                           .second = {1 - heavier_mass, lighter_scale_length, softening, design},
                           .first_tilt = heavier_tilt,
                           .second_tilt = lighter_tilt,
                           .start_distance = 2.8,
                           .closest_distance = 0.7},
                          in_heavier, count - in_heavier, random);
  return {.name = "collision",
          .bodies = finished(std::move(draft)),
          .time_step = static_cast<float>(0.4 * softening),
          .softening = static_cast<float>(softening),
          .parts = parts_in_order({{"galaxy 1", in_heavier}, {"galaxy 2", count - in_heavier}})};
}

}  // namespace

extern const SceneInfo scene_collision;
constinit const SceneInfo scene_collision{
    .id = "collision",
    .title = "Galaxy collision",
    .notes =
        "Two disc galaxies of masses 3 to 1 that pass close to each other, draw out tidal arms and merge. Above 16,384 "
        "bodies, the discs are cold and have spiral arms.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 2,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
