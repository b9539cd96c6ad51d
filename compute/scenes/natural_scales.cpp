#include "compute/scenes/natural_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/law.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "compute/core/vec.h"
#include "compute/scenes/draft.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

constexpr std::size_t most_heavy = 16;           // number of the heaviest bodies around which orbits are searched
constexpr std::size_t most_neighbours = 262144;  // largest system in which nearest neighbours are searched
constexpr std::size_t most_sampled = 65536;      // bodies sampled from larger systems, besides the heaviest
constexpr double much_heavier = 10;  // in large systems, smallest mass of a centre of orbits, in median masses
constexpr double apart = 8;          // smallest distance of a pair's next body, in separations of the pair
constexpr double radial = 1e-6;      // if pericentre / semi-major axis is smaller, rounding decides: a radial orbit
constexpr double fall = 0.02;        // size of a radial orbit, as a share of its semi-major axis

Vec3d minus(const Vec3d& a, const Vec3d& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
double dot(const Vec3d& a, const Vec3d& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct Mover {
  Vec3d position, velocity;
  double mass = 0;
  int body = 0;
};

std::vector<int> heaviest(const Bodies& bodies) {
  std::vector<int> order(bodies.positions.size());
  std::iota(order.begin(), order.end(), 0);
  const auto mass = [&](int body) { return bodies.positions[static_cast<std::size_t>(body)].w; };
  const std::size_t count = std::min(most_heavy, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](int a, int b) { return mass(a) != mass(b) ? mass(a) > mass(b) : a < b; });
  order.resize(count);
  return order;
}

/// Returns the heaviest bodies, then all others or, in a large system, some of them, evenly spaced.
std::vector<Mover> movers_of(const Bodies& bodies) {
  const Vec4 none;
  const bool low = bodies.digits() == Digits::compensated;
  const std::vector<int> heavy = heaviest(bodies);
  std::vector<Mover> movers;
  const auto add = [&](int body) {
    const auto i = static_cast<std::size_t>(body);
    movers.push_back({joined<double>(bodies.positions[i], low ? bodies.positions_low[i] : none),
                      joined<double>(bodies.velocities[i], low ? bodies.velocities_low[i] : none),
                      bodies.positions[i].w, body});
  };
  const std::size_t count = bodies.positions.size(), some = count <= most_neighbours ? count : most_sampled;
  movers.reserve(some + heavy.size());
  for (const int body : heavy) add(body);
  for (std::size_t k = 0; k < some; ++k) {
    const auto body = static_cast<int>(k * count / some);
    if (std::ranges::find(heavy, body) == heavy.end()) add(body);
  }
  return movers;
}

/// Returns the orbit of two bodies about each other; empty if they are not bound or coincide.
std::optional<Orbit> orbit_of(const std::vector<Mover>& movers, std::size_t body, std::size_t around) {
  const Vec3d r = minus(movers[body].position, movers[around].position),
              v = minus(movers[body].velocity, movers[around].velocity);
  const double mass = movers[body].mass + movers[around].mass, distance = std::sqrt(dot(r, r));
  const double energy = dot(v, v) / 2 - mass / distance;
  if (!(distance > 0) || !(energy < 0)) return std::nullopt;
  const double axis = -mass / (2 * energy), along = dot(r, v);
  const double momentum_sq = std::max(dot(r, r) * dot(v, v) - along * along, 0.0);
  const double eccentricity = std::sqrt(std::max(1 - momentum_sq / (mass * axis), 0.0));
  // a (1 - e), without the loss of digits when e is nearly 1
  const double pericentre = momentum_sq / (mass * (1 + eccentricity));
  Orbit orbit{movers[body].body, movers[around].body, pericentre >= radial * axis ? pericentre : fall * axis};
  orbit.binding = movers[body].mass * movers[around].mass / (2 * axis);
  orbit.time = 2 * std::numbers::pi * std::sqrt(orbit.size * orbit.size * orbit.size / mass);
  return orbit;
}

/// Returns the orbits of lighter bodies around a heavy one, nearest first, as long as the bodies in between are light.
/// `each_stands_for`: number of bodies that a sampled body represents.
std::vector<Orbit> orbits_around(const std::vector<Mover>& movers, std::size_t heavy, double each_stands_for) {
  struct Near {
    double distance_sq;
    std::size_t body;
  };
  std::vector<Near> near;
  near.reserve(movers.size());
  for (std::size_t i = 0; i < movers.size(); ++i) {
    const Vec3d r = minus(movers[i].position, movers[heavy].position);
    if (i != heavy) near.push_back({dot(r, r), i});
  }
  std::ranges::sort(near, {}, &Near::distance_sq);
  std::vector<Orbit> orbits;
  double between = 0;
  for (const Near& next : near) {
    const double mass = movers[next.body].mass;
    if (between > 0.5 * (movers[heavy].mass + mass)) {
      if (between > movers[heavy].mass) break;
    } else if (mass <= movers[heavy].mass) {
      if (const auto orbit = orbit_of(movers, next.body, heavy)) orbits.push_back(*orbit);
    }
    between += next.body < most_heavy ? mass : mass * each_stands_for;
  }
  return orbits;
}

/// A k-d tree without pointers: each range of bodies is halved at the median of an axis.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<Mover>& movers) : movers_{movers}, order_(movers.size()), axes_(movers.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    build(0, order_.size());
  }
  struct Found {
    double distance_sq = std::numeric_limits<double>::infinity(), next_sq = distance_sq;
    std::size_t body = 0;
  };
  /// Returns the nearest body at another position, its squared distance, and that of the next one; infinity if there is
  /// none.
  Found nearest_of(std::size_t body) const {
    Found found;
    search(body, 0, order_.size(), found);
    return found;
  }

 private:
  static constexpr std::size_t leaf = 8;

  double at(std::size_t body, int axis) const {
    const Vec3d& p = movers_[body].position;
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
  }
  void build(std::size_t first, std::size_t end) {
    if (end - first <= leaf) return;
    int widest = 0;
    double width = -1;
    for (int axis = 0; axis < 3; ++axis) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t i = first; i < end; ++i) {
        low = std::min(low, at(order_[i], axis));
        high = std::max(high, at(order_[i], axis));
      }
      if (high - low > width) widest = axis, width = high - low;
    }
    const std::size_t middle = first + (end - first) / 2;
    const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(place(first), place(middle), place(end),
                     [&](std::size_t a, std::size_t b) { return at(a, widest) < at(b, widest); });
    axes_[middle] = static_cast<signed char>(widest);
    build(first, middle);
    build(middle + 1, end);
  }
  void offer(std::size_t body, std::size_t other, Found& found) const {
    const Vec3d r = minus(movers_[other].position, movers_[body].position);
    const double distance_sq = dot(r, r);
    if (other == body || !(distance_sq > 0)) return;
    if (distance_sq < found.distance_sq) {
      found = {distance_sq, found.distance_sq, other};
    } else {
      found.next_sq = std::min(found.next_sq, distance_sq);
    }
  }
  void search(std::size_t body, std::size_t first, std::size_t end, Found& found) const {
    if (end - first <= leaf) {
      for (std::size_t i = first; i < end; ++i) offer(body, order_[i], found);
      return;
    }
    const std::size_t middle = first + (end - first) / 2;
    const int axis = axes_[middle];
    const double beyond = at(body, axis) - at(order_[middle], axis);
    beyond > 0 ? search(body, middle + 1, end, found) : search(body, first, middle, found);
    offer(body, order_[middle], found);
    if (!(beyond * beyond < found.next_sq)) return;
    beyond > 0 ? search(body, first, middle, found) : search(body, middle + 1, end, found);
  }

  const std::vector<Mover>& movers_;
  std::vector<std::size_t> order_;
  std::vector<signed char> axes_;
};

/// Returns whether the tide of the heaviest bodies, 2 M r / R^3, is weaker than the pull of the pair, m / r^2.
bool holds_together(const std::vector<Mover>& movers, std::size_t a, std::size_t b) {
  const Vec3d r = minus(movers[a].position, movers[b].position);
  const double cube = std::pow(dot(r, r), 1.5), mass = movers[a].mass + movers[b].mass;
  double tide = 0;
  for (std::size_t other = 0; other < std::min(most_heavy, movers.size()); ++other) {
    if (other == a || other == b) continue;
    const Vec3d away = minus(movers[other].position, movers[a].position);
    tide += 2 * movers[other].mass / std::pow(dot(away, away), 1.5);
  }
  return tide * cube < mass;
}

/// Adds the orbits of nearest neighbours that are bound to each other.
void add_pairs(const std::vector<Mover>& movers, std::vector<Orbit>& orbits) {
  const Neighbours neighbours{movers};
  std::vector<std::optional<Orbit>> found(movers.size());
  for_each_chunk(static_cast<int>(movers.size()), 1024, usable_threads(), nullptr, [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const Neighbours::Found near = neighbours.nearest_of(i);
      const double least_sq = apart * apart * near.distance_sq;
      if (!std::isfinite(near.distance_sq) || near.next_sq < least_sq) continue;
      if (movers[near.body].mass < movers[i].mass || neighbours.nearest_of(near.body).next_sq < least_sq) continue;
      if (holds_together(movers, i, near.body)) found[i] = orbit_of(movers, i, near.body);
    }
  });
  for (const auto& orbit : found) {
    if (orbit) orbits.push_back(*orbit);
  }
}

/// Returns how many of the first bodies can be centres of orbits: all in a small system, otherwise those of at least
/// ten median masses.
std::size_t centres(const std::vector<Mover>& movers) {
  if (movers.size() <= most_heavy) return movers.size();
  std::vector<double> masses(movers.size());
  std::ranges::transform(movers, masses.begin(), &Mover::mass);
  const auto middle = masses.begin() + static_cast<std::ptrdiff_t>(masses.size() / 2);
  std::ranges::nth_element(masses, middle);
  std::size_t count = 0;
  while (count < most_heavy && movers[count].mass >= much_heavier * *middle) ++count;
  return count;
}

}  // namespace

std::vector<Orbit> bound_orbits(const Bodies& bodies) {
  if (bodies.count() < 2) return {};
  const std::vector<Mover> movers = movers_of(bodies);
  const double each_stands_for = static_cast<double>(bodies.count()) / static_cast<double>(movers.size());
  std::vector<std::vector<Orbit>> around(centres(movers));
  for_each_chunk(static_cast<int>(around.size()), 1, usable_threads(), nullptr, [&](int first, int last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      around[i] = orbits_around(movers, i, each_stands_for);
    }
  });
  std::vector<Orbit> orbits;
  for (const std::vector<Orbit>& some : around) orbits.insert(orbits.end(), some.begin(), some.end());
  if (static_cast<std::size_t>(bodies.count()) <= most_neighbours) add_pairs(movers, orbits);
  const auto pair = [](const Orbit& orbit) { return std::minmax(orbit.body, orbit.around); };
  std::ranges::sort(orbits, [&](const Orbit& a, const Orbit& b) {
    return std::pair{a.size, std::pair{pair(a)}} < std::pair{b.size, std::pair{pair(b)}};
  });
  const auto alike = [&](const Orbit& a, const Orbit& b) { return pair(a) == pair(b); };
  orbits.erase(std::unique(orbits.begin(), orbits.end(), alike), orbits.end());
  return orbits;
}

namespace {

constexpr double ball_share = 0.1;        // share of the bodies in a ball; larger if these are all at one point
constexpr std::size_t most_used = 65536;  // bodies in the sample; more would change little
constexpr std::size_t most_centres = 64;

double distance_sq(const Vec4& a, const Vec4& b) {
  const double x = static_cast<double>(a.x) - b.x, y = static_cast<double>(a.y) - b.y,
               z = static_cast<double>(a.z) - b.z;
  return x * x + y * y + z * z;
}

/// Returns at most `most` of the bodies, evenly spaced in their order.
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

/// Returns the smallest of some balls that are centred on bodies and hold this share of all bodies.
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

/// Returns the rms speed, weighted by mass, in the frame of the centre of mass.
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

/// Returns the densest ball with a radius above 0. The radius is 0 only if all bodies are at one point.
Ball densest_ball(const std::vector<Vec4>& bodies) {
  Ball ball{};
  for (double share = ball_share; share <= 1 && !(ball.radius > 0); share += ball_share) {
    ball = densest_ball(bodies, share);
  }
  return ball;
}

constexpr double softening_of_orbit = 1.0 / 300, step_of_orbit = 1.0 / 200;
constexpr double enough_orbits = 1.0 / 200;  // smallest number of orbits that can decide, as a share of all bodies
constexpr double heavy_body = 100;           // orbits around a body of this number of mean masses are no chance pairs
constexpr std::size_t few_bodies = 16;       // in systems of up to this number, averages do not identify chance pairs

struct Masses {
  double total = 0, heaviest = 0;
  /// Returns whether one body has more than half of the mass, as a star among its planets.
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

/// Removes pairs that are close by chance and separate at the next encounter. Their binding energy is below the mean
/// kinetic energy of a body, or below the one that it would have in equilibrium. Small systems, systems around a
/// dominant body and orbits around a heavy body keep all pairs.
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

/// Returns the orbit that decides the scales; null if there are none or too few. Skips the smallest thousandth, unless
/// one body has most of the mass.
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

namespace {

constexpr std::size_t most_targets = 32, most_sources = 65536;  // more would change little

/// Returns the share of the accelerations of body `target`, weighted by magnitude, that single precision loses.
double lost_share(const std::vector<Vec4>& bodies, std::size_t target, double softening) {
  constexpr double smallest = std::numeric_limits<float>::min();
  const Gravity<double> law{softening * softening};
  const std::size_t sources = std::min(bodies.size(), most_sources);
  double lost = 0, all = 0;
  for (std::size_t i = 0; i < sources; ++i) {
    const Vec4& source = bodies[i * bodies.size() / sources];
    const double dx = static_cast<double>(source.x) - bodies[target].x;
    const double dy = static_cast<double>(source.y) - bodies[target].y;
    const double dz = static_cast<double>(source.z) - bodies[target].z;
    const double distance = std::sqrt(dx * dx + dy * dy + dz * dz);
    const double factor = law.factor(dx, dy, dz, static_cast<double>(source.w));
    const double pull = factor * distance;
    all += pull;
    if (!(factor >= smallest && pull >= smallest)) lost += pull;
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace

bool forces_underflow(const Bodies& bodies, float softening) {
  const std::size_t targets = std::min(bodies.positions.size(), most_targets);
  std::size_t without_force = 0;
  for (std::size_t i = 0; i < targets; ++i) {
    const std::size_t target = i * bodies.positions.size() / targets;
    if (!(lost_share(bodies.positions, target, softening) <= 0.5)) ++without_force;
  }
  return 2 * without_force > targets;
}

}  // namespace orrery
