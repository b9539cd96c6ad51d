#include "compute/scenes/spiral.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/scenes/galaxy.h"
#include "compute/scenes/softening.h"

namespace orrery {
namespace {

// Disc and spheroids share the force within 2.2 scale lengths about equally, which favours 2 to 4 arms: a heavier disc
// becomes a bar at once, a lighter one has many short arms. Most bodies are the disc's, because arms are made of them.
constexpr GalaxyDesign design{
    .disc_mass = 0.36,
    .disc_height = 0.07,
    .bulge = {.mass = 0.05, .scale = 0.2, .edge = 3},
    .halo = {.mass = 0.59, .scale = 2.3, .edge = GalaxyModel::edge},
    .toomre_q = spiral_toomre_q,
    .disc_share = 0.72,
    .bulge_share = 0.05,
};

// Arms grow from what is uneven in the disc. Shot noise falls with the number of bodies, so a million of them would
// need many rotations. The disc therefore starts with the noise of 5,000 bodies in its waves of 2 to 4 arms.
constexpr double seed_bodies = 5000;
constexpr int least_arms = 2, most_arms = 4;
constexpr double largest_seed = 0.1;  // relative to the density, where rings hold few bodies
constexpr double ring_width = 0.4;
constexpr int ring_count = static_cast<int>(GalaxyModel::disc_edge / ring_width) + 2;

/// Density waves cos(m phi) and sin(m phi) of amplitudes that are random from ring to ring, linear in between.
class SeedWaves {
 public:
  explicit SeedWaves(Random& random) {
    for (int ring = 0; ring < ring_count; ++ring) {
      const double radius = std::max(ring, 1) * ring_width;
      const double bodies = seed_bodies * radius * portable::exp(-radius) * ring_width;
      const double amplitude = std::min(std::sqrt(2 / bodies), largest_seed);
      for (Wave& wave : rings_[static_cast<std::size_t>(ring)]) {
        wave.cosine = amplitude * random.gaussian();
        wave.sine = amplitude * random.gaussian();
      }
    }
  }

  /// The angle to turn a body by at a radius in the direction (cosine, sine): minus its derivative is the density.
  double turn(double radius, double cosine, double sine) const {
    const double place = radius / ring_width;
    const auto inner = static_cast<std::size_t>(std::clamp(static_cast<int>(place), 0, ring_count - 2));
    const double share = std::min(place - static_cast<double>(inner), 1.0);
    double angle = 0;
    double cos_m = cosine, sin_m = sine;
    for (int m = least_arms; m <= most_arms; ++m) {
      const double next = cos_m * cosine - sin_m * sine;
      sin_m = sin_m * cosine + cos_m * sine;
      cos_m = next;
      const auto index = static_cast<std::size_t>(m - least_arms);
      const Wave &a = rings_[inner][index], &b = rings_[inner + 1][index];
      const double wave_cosine = a.cosine + share * (b.cosine - a.cosine);
      const double wave_sine = a.sine + share * (b.sine - a.sine);
      angle += (wave_sine * cos_m - wave_cosine * sin_m) / m;
    }
    return angle;
  }

 private:
  struct Wave {
    double cosine, sine;
  };
  std::array<std::array<Wave, most_arms - least_arms + 1>, ring_count> rings_;
};

void turn(Vec3d& v, double cosine, double sine) {
  v = {v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z};
}

Scene generate(int count, std::uint64_t seed) {
  return spiral_galaxy(count, seed, spiral_toomre_q);
}

}  // namespace

int spiral_disc_count(int count) {
  return disc_count(design, count);
}

Scene spiral_galaxy(int count, std::uint64_t seed, double toomre_q) {
  Random random{seed};
  Draft draft;
  const double softening = softening_for(count, 0.016);
  Galaxy galaxy{.mass = 1, .scale_length = spiral_scale_length, .softening = softening, .design = design};
  galaxy.design.toomre_q = toomre_q;
  const SeedWaves waves{random};
  append_galaxy(draft, galaxy, count, random);
  for (int i = 0; i < disc_count(design, count); ++i) {
    auto& [m, x, v] = draft[static_cast<std::size_t>(i)];
    const double radius = std::sqrt(x.x * x.x + x.y * x.y);
    const double half = waves.turn(radius / spiral_scale_length, x.x / radius, x.y / radius) / 2;
    const double cosine = (1 - half * half) / (1 + half * half), sine = 2 * half / (1 + half * half);
    turn(x, cosine, sine);
    turn(v, cosine, sine);
  }
  return {.name = "spiral",
          .bodies = finished(std::move(draft)),
          .time_step = static_cast<float>(0.5 * softening),
          .softening = static_cast<float>(softening),
          .parts = galaxy_parts(design, count)};
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
