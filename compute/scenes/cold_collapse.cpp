#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

// Velocity dispersion in one dimension. T/|W| is then 0.6 %, just enough to keep the density finite in the collapse,
// which happens at t = 1.11.
constexpr double dispersion = 0.05;

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  Draft draft;
  draft.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Vec3d position = random.in_ball();
    draft.push_back({1.0 / count, position, random.gaussian_vector(dispersion)});
  }
  const double softening = softening_for(count, 0.025);
  return {"cold-collapse", finished(std::move(draft)), static_cast<float>(softening / 12),
          static_cast<float>(softening)};
}

}  // namespace

extern const SceneInfo scene_cold_collapse;
constinit const SceneInfo scene_cold_collapse{
    .id = "cold-collapse",
    .title = "Cold collapse",
    .notes = "A uniform sphere of radius 1 and mass 1, almost at rest, that falls together, rebounds and settles.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
