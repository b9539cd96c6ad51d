#include "compute/scenes/natural_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "compute/core/force_law.h"
#include "compute/core/format_count.h"
#include "compute/scenes/orbits.h"
#include "compute/scenes/portable_math.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

constexpr double ball_share = 0.1;        // of the bodies; more, if these are all at one place
constexpr std::size_t most_used = 65536;  // bodies in the sample; more would change little
constexpr std::size_t most_centres = 64;

double distance_sq(const Vec4& a, const Vec4& b) {
  const double x = static_cast<double>(a.x) - b.x, y = static_cast<double>(a.y) - b.y,
               z = static_cast<double>(a.z) - b.z;
  return x * x + y * y + z * z;
}

/// At most `most` of the bodies, evenly spaced in their order.
std::vector<Vec4> thinned(const std::vector<Vec4>& bodies, std::size_t most) {
  const std::size_t size = std::min(bodies.size(), most);
  std::vector<Vec4> picked;
  picked.reserve(size);
  for (std::size_t i = 0; i < size; ++i) picked.push_back(bodies[i * bodies.size() / size]);
  return picked;
}

struct Ball {
  double radius;
  double bodies;
  double mass;
};

/// The smallest of the balls around some of the bodies that each hold this share of all bodies.
Ball densest_ball(const std::vector<Vec4>& bodies, double share) {
  const std::vector<Vec4> used = thinned(bodies, most_used);
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(used.size()));
  const std::size_t inside = std::max(wanted, std::min<std::size_t>(used.size(), 2));

  double radius_sq = std::numeric_limits<double>::max();
  Vec4 centre;
  std::vector<double> distances_sq(used.size());
  for (const Vec4& candidate : thinned(used, most_centres)) {
    std::ranges::transform(used, distances_sq.begin(), [&](const Vec4& body) { return distance_sq(body, candidate); });
    const auto last = distances_sq.begin() + static_cast<std::ptrdiff_t>(inside) - 1;
    std::ranges::nth_element(distances_sq, last);
    if (*last < radius_sq) {
      radius_sq = *last;
      centre = candidate;
    }
  }
  double mass = 0;
  for (const Vec4& body : used) {
    if (distance_sq(body, centre) <= radius_sq) mass += body.w;
  }
  const double each_stands_for = static_cast<double>(bodies.size()) / static_cast<double>(used.size());
  return {std::sqrt(radius_sq), static_cast<double>(inside) * each_stands_for, mass * each_stands_for};
}

/// The rms speed, weighted by mass, in the frame of the centre of mass.
double rms_speed(const Bodies& bodies) {
  double mass = 0, square = 0;
  Vec3d momentum;
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double m = bodies.positions[i].w;
    const Vec4& v = bodies.velocities[i];
    const double vx = v.x, vy = v.y, vz = v.z;
    mass += m;
    square += m * (vx * vx + vy * vy + vz * vz);
    momentum = {momentum.x + m * vx, momentum.y + m * vy, momentum.z + m * vz};
  }
  const double common = (momentum.x * momentum.x + momentum.y * momentum.y + momentum.z * momentum.z) / (mass * mass);
  return std::sqrt(std::max(square / mass - common, 0.0));
}

/// The densest ball that has a radius; 0 if all bodies are at one place.
Ball densest_ball(const std::vector<Vec4>& bodies) {
  Ball ball{};
  for (double share = ball_share; share <= 1 && !(ball.radius > 0); share += ball_share) {
    ball = densest_ball(bodies, share);
  }
  return ball;
}

constexpr double softening_of_orbit = 1.0 / 300, step_of_orbit = 1.0 / 200;
constexpr double enough_orbits = 1.0 / 200;  // of all bodies
constexpr double heavy_body = 100;           // mean masses: its orbits are no chance pairs
constexpr std::size_t few_bodies = 16;       // have no mean that tells a chance pair

struct Masses {
  double total = 0, heaviest = 0;
  /// Whether one body has most of the mass, as a star among its planets.
  bool dominated() const { return heaviest > total / 2; }
};
Masses masses_of(const std::vector<Vec4>& bodies) {
  Masses masses;
  for (const Vec4& body : bodies) {
    masses.total += body.w;
    masses.heaviest = std::max<double>(masses.heaviest, body.w);
  }
  return masses;
}

/// Removes chance pairs, which part at the next encounter: their binding energy is below the mean kinetic energy of a
/// body, or below the one that it would have in equilibrium. Few bodies, those around a dominant body and orbits
/// around a heavy body keep all.
void remove_chance_pairs(std::vector<Orbit>& orbits, const Bodies& bodies, const Masses& masses) {
  const std::size_t count = bodies.positions.size();
  if (orbits.empty() || count <= few_bodies || masses.dominated()) return;
  const Ball half = densest_ball(bodies.positions, 0.5);
  const double speed = rms_speed(bodies), circular_sq = half.radius > 0 ? half.mass / half.radius : 0;
  const double mean_mass = masses.total / static_cast<double>(count);
  const double kinetic = mean_mass * std::max(speed * speed, circular_sq) / 2;
  std::erase_if(orbits, [&](const Orbit& orbit) {
    const double around = bodies.positions[static_cast<std::size_t>(orbit.around)].w;
    return around < heavy_body * mean_mass && orbit.binding < kinetic;
  });
}

/// The orbit that decides; null: there are none, or too few. In a system of many alike, a thousandth may be smaller.
const Orbit* deciding(const std::vector<Orbit>& orbits, int bodies, const Masses& masses) {
  if (orbits.empty() || static_cast<double>(orbits.size()) < enough_orbits * bodies) return nullptr;
  return masses.dominated() ? &orbits.front() : &orbits[orbits.size() / 1000];
}

}  // namespace

std::string short_number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

bool NaturalScales::usable() const {
  return std::isnormal(static_cast<float>(time_step)) && softening >= Law::least_gravity_softening &&
         softening <= Law::max_softening;
}

std::string NaturalScales::softening_text(const std::optional<Units>& units) const {
  const std::string text = "softening " + short_number(softening) + " (" + why_softening + ")";
  return units ? text + ", " + length_value(softening * units->length_cm) : text;
}

std::string NaturalScales::time_step_text(const std::optional<Units>& units) const {
  const std::string text = "dt " + short_number(time_step) + " (" + why_time_step + ")";
  return units ? text + ", " + time_value(time_step * units->time_s()) : text;
}

NaturalScales natural_scales(const Bodies& bodies, double own_softening) {
  std::vector<Orbit> orbits = bound_orbits(bodies);
  const Masses masses = masses_of(bodies.positions);
  remove_chance_pairs(orbits, bodies, masses);
  const Orbit* const orbit = deciding(orbits, bodies.count(), masses);
  const auto [radius, inside, mass] = densest_ball(bodies.positions);
  const double free_fall =
      radius > 0 ? 0.06 * std::sqrt(radius * radius * radius / mass) : std::numeric_limits<double>::infinity();
  NaturalScales scales{.smallest_orbit = orbits.empty() ? 0 : orbits.front().size};
  if (orbit) {
    scales.softening = softening_of_orbit * orbit->size;
    scales.why_softening =
        "a 300th of the smallest orbit, " + short_number(orbit->size) + ", of " + counted(orbits.size(), "orbit");
  } else if (radius > 0) {
    scales.softening = std::cbrt(4 * portable::pi / 3 * radius * radius * radius / inside) / 2;
    scales.why_softening = "half the mean distance of neighbours in the densest region";
  } else {
    scales.softening = 0.02;
    scales.why_softening = "no two bodies are apart, so that it is arbitrary";
  }
  if (own_softening > 0) {
    scales.softening = own_softening;
    scales.why_softening = "the file's";
  }
  if (orbit) {
    scales.time_step = std::min(step_of_orbit * orbit->time, free_fall);
    scales.why_time_step =
        scales.time_step < free_fall ? "a 200th of the smallest orbit's period" : "for the densest region";
  } else if (radius > 0) {
    const double speed = std::max(rms_speed(bodies), std::sqrt(mass / radius));
    scales.time_step = std::min(free_fall, 0.4 * scales.softening / speed);
    scales.why_time_step =
        scales.time_step < free_fall ? "0.4 softening lengths at the typical speed" : "for the densest region";
  } else {
    scales.time_step = 0.005;
    scales.why_time_step = "arbitrary as well";
  }
  return scales;
}

double softening_in(Snapshot& snapshot) {
  const std::vector<float>& lengths = snapshot.properties.softening;
  float least = 0, most = 0;
  for (const float length : lengths) {
    if (!(length > 0)) continue;
    least = least > 0 ? std::min(least, length) : length;
    most = std::max(most, length);
  }
  if (lengths.empty()) return snapshot.softening;
  if (least < most) {
    snapshot.notes.push_back("the file has softenings from " + short_number(least) + " to " + short_number(most) +
                             ": all bodies get the smallest");
  }
  return least;
}

std::string coarse_softening(double softening, double smallest_orbit) {
  if (!(smallest_orbit > 0) || !(softening > smallest_orbit / 10)) return {};
  return "softening " + short_number(softening) + " exceeds a tenth of the smallest orbit, " +
         short_number(smallest_orbit) + ": orbits of this size will be wrong";
}

}  // namespace orrery
