#include <cmath>

#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

// A Plummer sphere of mass 1 and scale length 1 has the energy -3 pi / 64. This unit of length makes it -1/4 (virial
// units).
constexpr double length_unit = 3 * portable::pi / 16;
constexpr double outermost_mass_fraction = 0.999;  // about 38 scale lengths, where the density is 1e-8 of the centre's

/// Draws q = speed / escape speed by rejection, with the density q^2 (1 - q^2)^(7/2), whose maximum is 0.092.
double drawn_speed_ratio(Random& random) {
  for (;;) {
    const double q = random.uniform();
    const double rest = 1 - q * q;
    if (random.uniform(0, 0.1) < q * q * rest * rest * rest * std::sqrt(rest)) return q;
  }
}

/// Draws a Plummer sphere by the method of Aarseth, Henon and Wielen 1974.
Scene generate(int count, std::uint64_t seed) {
  const auto draw = [count](Random& random) -> DraftBody {
    const double enclosed = random.uniform(0, outermost_mass_fraction);
    const double radius = 1 / std::sqrt(portable::pow(enclosed, -2.0 / 3) - 1);
    const double escape_speed = std::sqrt(2 / std::sqrt(1 + radius * radius));
    const double speed = drawn_speed_ratio(random) * escape_speed;
    const Vec3d position = random.on_sphere(radius * length_unit);
    const Vec3d velocity = random.on_sphere(speed / std::sqrt(length_unit));
    return {1.0 / count, position, velocity};
  };
  const double softening = softening_for(count, 0.02);
  return {"plummer", finished(drawn_in_parallel(count, seed, draw)), static_cast<float>(softening / 4),
          static_cast<float>(softening)};
}

}  // namespace

extern const SceneInfo scene_plummer;
constinit const SceneInfo scene_plummer{
    .id = "plummer",
    .title = "Plummer sphere",
    .notes = "A star cluster in equilibrium in virial units: mass 1, energy -1/4 (Aarseth, Henon and Wielen 1974).",
    .default_count = 16384,
    .fixed_count = 0,
    .min_count = 1,
    .random = true,
    .generate = generate,
};

}  // namespace orrery
