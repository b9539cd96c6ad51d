#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  Draft draft;
  const double softening = softening_for(count, 0.02);
  append_galaxy(draft, {.mass = 1, .scale_length = 0.4, .softening = softening}, count, random);
  return {.name = "disc",
          .bodies = finished(std::move(draft)),
          .time_step = static_cast<float>(0.4 * softening),
          .softening = static_cast<float>(softening),
          .parts = galaxy_parts(warm_disc_design, count)};
}

}  // namespace

extern const SceneInfo scene_disc;
constinit const SceneInfo scene_disc{
    .id = "disc",
    .title = "Disc galaxy",
    .notes =
        "A disc with bulge and halo, rotating in equilibrium: warm enough to last, cool enough to grow spiral arms.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
