#include "compute/scenes/galaxy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

void turn(Vec3d& v, double cosine, double sine) {
  v = {v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z};
}

/// Turns every body of a disc to where the waves make it denser.
void add_waves(std::span<DraftBody> disc, const SeedWaves& waves) {
  for (auto& [m, x, v] : disc) {
    const double radius = std::sqrt(x.x * x.x + x.y * x.y);
    const double half = waves.turn(radius, x.x / radius, x.y / radius) / 2;
    const double cosine = (1 - half * half) / (1 + half * half), sine = 2 * half / (1 + half * half);
    turn(x, cosine, sine);
    turn(v, cosine, sine);
  }
}

void append_disc(Draft& draft, const GalaxyModel& model, double thickness, int count, double mass, Random& random) {
  for (int i = 0; i < count; ++i) {
    double radius;  // the density of R is R exp(-R): the sum of two exponential deviates
    do {
      const double u1 = random.uniform();
      const double u2 = random.uniform();
      radius = -portable::log(u1 * u2);
    } while (radius > GalaxyModel::disc_edge);
    const double u = random.uniform();
    const double height = thickness / 2 * portable::log(u / (1 - u));  // sech^2(z / thickness)

    const auto [outward, along, up] = model.draw_disc_velocity(radius, random);

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
    const double fastest = GalaxyModel::fastest_share * escape_speeds.at(radius);
    Vec3d velocity;
    do {
      velocity = random.gaussian_vector(dispersion);
    } while (velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z > fastest * fastest);
    draft.push_back({mass, position, velocity});
  }
}

int bulge_count(const GalaxyDesign& design, int count) {
  return std::min(count - disc_count(design, count), static_cast<int>(design.bulge_share * count + 0.5));
}

}  // namespace

int disc_count(const GalaxyDesign& design, int count) {
  return std::max(1, static_cast<int>(design.disc_share * count + 0.5));
}

Parts galaxy_parts(const GalaxyDesign& design, int count) {
  const int disc = disc_count(design, count), bulge = bulge_count(design, count);
  return parts_in_order({{"disc", disc}, {"bulge", bulge}, {"halo", count - disc - bulge}});
}

void append_galaxy(Draft& draft, const Galaxy& galaxy, int count, Random& random) {
  const GalaxyDesign& design = galaxy.design;
  const GalaxyModel model{design, galaxy.softening / galaxy.scale_length};
  const int in_disc = disc_count(design, count);
  const int in_bulge = bulge_count(design, count);
  const int in_halo = count - in_disc - in_bulge;

  // If a part has no bodies, the other parts get its mass. So the total mass is the same for any count.
  const double present =
      design.disc_mass + (in_bulge > 0 ? design.bulge.mass : 0) + (in_halo > 0 ? design.halo.mass : 0);
  const auto waves = design.seed_bodies > 0 ? std::optional{SeedWaves{design.seed_bodies, random}} : std::nullopt;
  const std::size_t first = draft.size();
  draft.reserve(first + static_cast<std::size_t>(count));
  append_disc(draft, model, design.disc_height, in_disc, design.disc_mass / present / in_disc, random);
  if (waves) add_waves(std::span{draft}.subspan(first), *waves);
  append_spheroid(draft, design.bulge, model.bulge_dispersion(), model.escape_speed(), in_bulge,
                  design.bulge.mass / present / in_bulge, random);
  append_spheroid(draft, design.halo, model.halo_dispersion(), model.escape_speed(), in_halo,
                  design.halo.mass / present / in_halo, random);

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
