#include <algorithm>
#include <cmath>

#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"
#include "compute/scenes/softening.h"

namespace orrery {
namespace {

// The masses are 3 to 1, the total is 1. Radii scale as the square root of the mass, so that both discs are equally
// bright.
constexpr double heavier_mass = 0.75;
constexpr double heavier_scale_length = 0.32;

// A parabolic orbit in the plane z = 0, for point masses. Both discs rotate in the direction of the orbit, which makes
// long tails (Toomre and Toomre 1972).
constexpr double start_distance = 2.8;
constexpr double closest_distance = 0.7;

/// A rotation by rational sines and cosines: first about x, then about z.
struct Tilt {
  double cos_x, sin_x, cos_z, sin_z;
  Vec3d operator()(Vec3d p) const {
    const Vec3d tipped{p.x, p.y * cos_x - p.z * sin_x, p.y * sin_x + p.z * cos_x};
    return {tipped.x * cos_z - tipped.y * sin_z, tipped.x * sin_z + tipped.y * cos_z, tipped.z};
  }
};
constexpr Tilt heavier_tilt{0.96, 0.28, 0.8, 0.6};            // 16 degrees to the orbit
constexpr Tilt lighter_tilt{5.0 / 13, 12.0 / 13, 0.6, -0.8};  // 67 degrees

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  Draft draft;
  const double softening = softening_for(count, 0.02);
  const int in_heavier = std::clamp(static_cast<int>(heavier_mass * count + 0.5), 1, count - 1);

  const double speed = std::sqrt(2 / start_distance);
  const double sideways = std::sqrt(2 * closest_distance) / start_distance;
  const Vec3d velocity{-std::sqrt(speed * speed - sideways * sideways), sideways, 0};

  const double lighter_scale_length = heavier_scale_length * std::sqrt((1 - heavier_mass) / heavier_mass);
  append_galaxy(draft, {heavier_mass, heavier_scale_length, softening}, in_heavier, random);
  append_galaxy(draft, {1 - heavier_mass, lighter_scale_length, softening}, count - in_heavier, random);
  for (std::size_t i = 0; i < draft.size(); ++i) {
    auto& [m, x, v] = draft[i];
    const bool heavier = i < static_cast<std::size_t>(in_heavier);
    const Tilt& tilt = heavier ? heavier_tilt : lighter_tilt;
    x = tilt(x);
    v = tilt(v);
    if (heavier) continue;
    x.x += start_distance;
    v = {v.x + velocity.x, v.y + velocity.y, v.z};
  }
  return {"collision", finished(std::move(draft)), static_cast<float>(0.4 * softening), static_cast<float>(softening)};
}

}  // namespace

extern const SceneInfo scene_collision;
constinit const SceneInfo scene_collision{
    .id = "collision",
    .title = "Galaxy collision",
    .notes = "Two disc galaxies of masses 3 to 1 that pass close to each other, draw out tidal arms and merge.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 2,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
