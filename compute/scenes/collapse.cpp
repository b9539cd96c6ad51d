#include <array>
#include <cmath>

#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

constexpr int clumps = 24;
constexpr double share_in_clumps = 0.8;  // share of all bodies; the others fill the sphere between the clumps
constexpr double clump_radius = 0.1;
constexpr double dispersion = 0.05;  // speed dispersion of clumps and of bodies between them, in one dimension

struct Clump {
  double weight;  // mass of the clump, as a multiple of the mean
  Vec3d centre, velocity;
  double dispersion;  // speed dispersion of its bodies, in one dimension
};

/// Draws the clumps. A uniform ball of mass m and radius r is in virial equilibrium with the dispersion sqrt(m / 5r).
std::array<Clump, clumps> drawn_clumps(Random& random) {
  std::array<Clump, clumps> all{};
  for (Clump& clump : all) {
    const double weight = random.uniform(0.4, 1.6);
    const Vec3d centre = random.in_ball();
    clump = {weight, centre, random.gaussian_vector(dispersion),
             std::sqrt(weight * share_in_clumps / clumps / (5 * clump_radius))};
  }
  return all;
}

/// Draws a clump with a probability proportional to its weight.
const Clump& chosen(const std::array<Clump, clumps>& all, Random& random) {
  for (;;) {
    const Clump& clump = all[static_cast<std::size_t>(random.uniform(0, clumps))];
    if (random.uniform(0, 1.6) < clump.weight) return clump;
  }
}

Scene generate(int count, std::uint64_t seed) {
  Random random{seed};
  const std::array<Clump, clumps> all = drawn_clumps(random);
  Draft draft;
  draft.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (random.uniform() > share_in_clumps) {
      const Vec3d position = random.in_ball();
      draft.push_back({1.0 / count, position, random.gaussian_vector(dispersion)});
      continue;
    }
    const auto& [weight, centre, velocity, own] = chosen(all, random);
    const Vec3d offset = random.in_ball(), motion = random.gaussian_vector(own);
    draft.push_back(
        {1.0 / count,
         {centre.x + clump_radius * offset.x, centre.y + clump_radius * offset.y, centre.z + clump_radius * offset.z},
         {velocity.x + motion.x, velocity.y + motion.y, velocity.z + motion.z}});
  }
  const double softening = softening_for(count, 0.02);
  return {"collapse", finished(std::move(draft)), static_cast<float>(softening / 12), static_cast<float>(softening)};
}

}  // namespace

extern const SceneInfo scene_collapse;
constinit const SceneInfo scene_collapse{
    .id = "collapse",
    .title = "Clumpy collapse",
    .notes = "24 clumps in a sphere of radius 1 and mass 1, almost at rest, that fall together and merge.",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
