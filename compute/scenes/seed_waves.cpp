#include "compute/scenes/seed_waves.h"

#include <algorithm>
#include <cmath>

#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

constexpr double largest_seed = 0.1;  // relative to the density, where rings hold few bodies

}  // namespace

SeedWaves::SeedWaves(double bodies, Random& random) {
  for (int ring = 0; ring < ring_count; ++ring) {
    const double radius = std::max(ring, 1) * ring_width;
    const double in_ring = bodies * radius * portable::exp(-radius) * ring_width;
    const double amplitude = std::min(std::sqrt(2 / in_ring), largest_seed);
    for (Wave& wave : rings_[static_cast<std::size_t>(ring)]) {
      wave.cosine = amplitude * random.gaussian();
      wave.sine = amplitude * random.gaussian();
    }
  }
}

double SeedWaves::turn(double radius, double cosine, double sine) const {
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

}  // namespace orrery
