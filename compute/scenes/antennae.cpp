#include <cmath>

#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"
#include "compute/scenes/softening.h"

namespace orrery {
namespace {

constexpr double scale_length = 0.25;  // of both discs

// A parabolic orbit in the plane z = 0, for point masses of 1/2. Its closest point is reached at t = 4.1.
constexpr double start_distance = 3.6;
constexpr double closest_distance = 0.85;

// Both discs rotate in the direction of the orbit. They are inclined to it by 37 degrees, so that the system looks the
// same after half a turn about z (Toomre and Toomre 1972).
constexpr double cos_tip = 0.8, sin_tip = 0.6;
constexpr double cos_line = 0.8, sin_line = 0.6;

Vec3d tipped(Vec3d p, double sine) {
  const Vec3d q{p.x, p.y * cos_tip - p.z * sine, p.y * sine + p.z * cos_tip};  // about x, then about z
  return {q.x * cos_line - q.y * sin_line, q.x * sin_line + q.y * cos_line, q.z};
}

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  Draft draft;
  const double softening = softening_for(count, 0.016);
  const int in_first = (count + 1) / 2;

  const double speed = std::sqrt(2 / start_distance);
  const double sideways = std::sqrt(2 * closest_distance) / start_distance;
  const Vec3d velocity{-std::sqrt(speed * speed - sideways * sideways), sideways, 0};

  append_galaxy(draft, {.mass = 0.5, .scale_length = scale_length, .softening = softening}, in_first, random);
  append_galaxy(draft, {.mass = 0.5, .scale_length = scale_length, .softening = softening}, count - in_first, random);
  for (std::size_t i = 0; i < draft.size(); ++i) {
    auto& [m, x, v] = draft[i];
    const bool first = i < static_cast<std::size_t>(in_first);
    x = tipped(x, first ? sin_tip : -sin_tip);
    v = tipped(v, first ? sin_tip : -sin_tip);
    if (first) continue;
    x.x += start_distance;
    v = {v.x + velocity.x, v.y + velocity.y, v.z};
  }
  return {"antennae", finished(std::move(draft)), static_cast<float>(0.4 * softening), static_cast<float>(softening)};
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
