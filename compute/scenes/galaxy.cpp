#include "compute/scenes/galaxy.h"

#include <algorithm>
#include <cmath>

#include "compute/scenes/galaxy_model.h"
#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

// Shares of the bodies. They are close to the shares of the mass, so that all bodies have similar masses: heavy ones
// would heat the disc.
constexpr double disc_share = 0.64;
constexpr double bulge_share = 0.12;

void append_disc(Draft& draft, const GalaxyModel& model, int count, double mass, Random& random) {
  for (int i = 0; i < count; ++i) {
    double radius;  // the density of R is R exp(-R): the sum of two exponential deviates
    do {
      const double u1 = random.uniform();
      const double u2 = random.uniform();
      radius = -portable::log(u1 * u2);
    } while (radius > GalaxyModel::disc_edge);
    const double u = random.uniform();
    const double height = GalaxyModel::disc_height / 2 * portable::log(u / (1 - u));  // sech^2(z / height)

    const DiscMotion motion = model.disc_motion(radius);
    const double outward = motion.radial_dispersion * random.gaussian();
    const double along = motion.streaming + motion.azimuthal_dispersion * random.gaussian();
    const double up = motion.vertical_dispersion * random.gaussian();

    double x, y, length_sq;  // a direction without sine and cosine
    do {
      x = random.uniform(-1, 1);
      y = random.uniform(-1, 1);
      length_sq = x * x + y * y;
    } while (length_sq >= 1 || length_sq == 0);
    x /= std::sqrt(length_sq);
    y /= std::sqrt(length_sq);
    draft.push_back({mass, {radius * x, radius * y, height}, {outward * x - along * y, outward * y + along * x, up}});
  }
}

void append_spheroid(Draft& draft, const Spheroid& part, const GalaxyModel::Table& dispersions,
                     const GalaxyModel::Table& escape_speeds, int count, double mass, Random& random) {
  for (int i = 0; i < count; ++i) {
    const double radius = part.radius_enclosing(random.uniform());
    const Vec3d position = random.on_sphere(radius);
    const double dispersion = dispersions.at(radius);
    const double fastest = 0.95 * escape_speeds.at(radius);
    Vec3d velocity;
    do {
      velocity.x = dispersion * random.gaussian();
      velocity.y = dispersion * random.gaussian();
      velocity.z = dispersion * random.gaussian();
    } while (velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z > fastest * fastest);
    draft.push_back({mass, position, velocity});
  }
}

}  // namespace

void append_galaxy(Draft& draft, const Galaxy& galaxy, int count, Random& random) {
  const GalaxyModel model{galaxy.softening / galaxy.scale_length};
  const int in_disc = std::max(1, static_cast<int>(disc_share * count + 0.5));
  const int in_bulge = std::min(count - in_disc, static_cast<int>(bulge_share * count + 0.5));
  const int in_halo = count - in_disc - in_bulge;

  // If a part has no bodies, the other parts get its mass. So the total mass is the same for any count.
  const double present = GalaxyModel::disc_mass + (in_bulge > 0 ? GalaxyModel::bulge.mass : 0) +
                         (in_halo > 0 ? GalaxyModel::halo.mass : 0);
  const std::size_t first = draft.size();
  draft.reserve(first + static_cast<std::size_t>(count));
  append_disc(draft, model, in_disc, GalaxyModel::disc_mass / present / in_disc, random);
  append_spheroid(draft, GalaxyModel::bulge, model.bulge_dispersion(), model.escape_speed(), in_bulge,
                  GalaxyModel::bulge.mass / present / in_bulge, random);
  append_spheroid(draft, GalaxyModel::halo, model.halo_dispersion(), model.escape_speed(), in_halo,
                  GalaxyModel::halo.mass / present / in_halo, random);

  const double length = galaxy.scale_length;
  const double speed = std::sqrt(galaxy.mass / galaxy.scale_length);
  for (std::size_t i = first; i < draft.size(); ++i) {
    auto& [m, x, v] = draft[i];
    m *= galaxy.mass;
    x = {x.x * length, x.y * length, x.z * length};
    v = {v.x * speed, v.y * speed, v.z * speed};
  }
}

}  // namespace orrery
