#include <cmath>

#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

// Kepler orbit of semi-major axis 1 and total mass 1, so that its period is 2 pi. It starts at the greatest distance.
constexpr double eccentricity = 0.5;
constexpr double heavier_mass = 0.75;

Scene generate(int /*count*/, std::uint64_t /*seed*/) {
  const double distance = 1 + eccentricity;
  const double speed = std::sqrt((1 - eccentricity) / (1 + eccentricity));
  Draft draft{{heavier_mass, {0, 0, 0}, {0, 0, 0}}, {1 - heavier_mass, {distance, 0, 0}, {0, speed, 0}}};
  return {"two-body", finished(std::move(draft)), 0.005f, 0.001f};
}

}  // namespace

extern const SceneInfo scene_two_body;
constinit const SceneInfo scene_two_body{
    .id = "two-body",
    .title = "Two bodies",
    .notes =
        "Masses 3 to 1 on an orbit of eccentricity 0.5, semi-major axis 1 and period 2 pi. The same for every seed.",
    .default_count = 2,
    .fixed_count = 2,
    .min_count = 2,
    .random = false,
    .generate = generate,
};

}  // namespace orrery
