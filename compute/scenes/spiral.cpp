#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy.h"

namespace orrery {
namespace {

Scene generate(int count, std::uint64_t seed) {
  return spiral_galaxy(count, seed, spiral_toomre_q);
}

}  // namespace

int spiral_disc_count(int count) {
  return disc_count(cold_disc_design, count);
}

Scene spiral_galaxy(int count, std::uint64_t seed, double toomre_q) {
  Random random{seed};
  Draft draft;
  const double softening = softening_for(count, 0.016);
  Galaxy galaxy{.mass = 1, .scale_length = spiral_scale_length, .softening = softening, .design = cold_disc_design};
  galaxy.design.toomre_q = toomre_q;
  append_galaxy(draft, galaxy, count, random);
  return {.name = "spiral",
          .bodies = finished(std::move(draft)),
          .time_step = static_cast<float>(0.5 * softening),
          .softening = static_cast<float>(softening),
          .parts = galaxy_parts(cold_disc_design, count)};
}

extern const SceneInfo scene_spiral;
constinit const SceneInfo scene_spiral{
    .id = "spiral",
    .title = "Spiral galaxy",
    .notes =
        "A cold disc (Toomre Q = 1.1) with a small bulge in a live halo: it grows spiral arms within three rotations.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
