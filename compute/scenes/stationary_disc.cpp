#include "compute/scenes/stationary_disc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

constexpr int rounds = 12;            // of the iteration: the densities agree to 1 % after 6
constexpr double largest_factor = 2;  // by which a round changes a value
constexpr double widest = 4;          // normal deviates beyond are cut off
constexpr double beyond = 3.167e-5;   // their share on each side
constexpr int deviates_per_unit = 5;
constexpr int deviate_count = 2 * static_cast<int>(widest) * deviates_per_unit + 1;

constexpr std::size_t index_of(int radius, int other, int count) {
  return static_cast<std::size_t>(radius) * static_cast<std::size_t>(count) + static_cast<std::size_t>(other);
}

/// The share of normal deviates below each of deviate_count equally spaced ones, by Simpson's rule.
std::array<double, deviate_count> normal_shares() {
  constexpr double step = 1.0 / deviates_per_unit;
  const auto density = [](double z) { return portable::exp(-z * z / 2); };
  std::array<double, deviate_count> shares{};
  for (int i = 1; i < deviate_count; ++i) {
    const double z = -widest + i * step;
    shares[static_cast<std::size_t>(i)] =
        shares[static_cast<std::size_t>(i - 1)] + density(z - step) + 4 * density(z - step / 2) + density(z);
  }
  const double sum = shares.back();
  for (double& share : shares) share = beyond + (1 - 2 * beyond) * share / sum;
  return shares;
}

}  // namespace

double StationaryDisc::radius(int index) {
  const double share = static_cast<double>(index + 1) / size;
  return edge * share * share;
}

StationaryDisc::StationaryDisc(Profile profile, double reference_radius, double reference_dispersion)
    : profile_{std::move(profile)}, weights_{profile_.surface_density} {
  tabulate_orbits();
  int reference = 0;
  while (radius(reference) < reference_radius) ++reference;
  for (int round = 0; round < rounds; ++round) {
    tabulate_chances();
    const double variance = fit_density(reference);
    if (round + 1 == rounds) break;
    const double factor =
        std::clamp(reference_dispersion * reference_dispersion / variance, 1 / largest_factor, largest_factor);
    for (double& dispersion_sq : profile_.dispersion_sq) dispersion_sq *= factor;
  }
  tabulate_speeds();
  chances_ = {};
}

void StationaryDisc::tabulate_orbits() {
  double potential = 0, inner_pull = 0, inner = 0;
  for (int i = 0; i < size; ++i) {
    const double r = radius(i), circular_sq = profile_.circular_sq[static_cast<std::size_t>(i)];
    const double pull = circular_sq / r;
    potential += (inner_pull + pull) / 2 * (r - inner);
    potential_.push_back(potential);
    angular_momentum_.push_back(r * std::sqrt(circular_sq));
    inner_pull = pull;
    inner = r;
  }
}

/// What the orbits about each radius add to the density at each: the distribution function's integral over radial
/// velocities, in units in which the weights are 2 pi times F times the variance.
void StationaryDisc::tabulate_chances() {
  chances_.assign(static_cast<std::size_t>(size) * size, 0);
  for (int home = 0; home < size; ++home) {
    const auto h = static_cast<std::size_t>(home);
    const auto below = static_cast<std::size_t>(std::max(home - 1, 0));
    const auto above = static_cast<std::size_t>(std::min(home + 1, size - 1));
    const double range = std::max(angular_momentum_[above] - angular_momentum_[below], 0.0) / 2;
    const double variance = profile_.dispersion_sq[h], l = angular_momentum_[h];
    const double circular_energy = potential_[h] + profile_.circular_sq[h] / 2;
    for (int at = 0; at < size; ++at) {
      const double r = radius(at);
      const double excess = potential_[static_cast<std::size_t>(at)] + l * l / (2 * r * r) - circular_energy;
      const double exponent = std::max(excess / variance, 0.0);
      if (exponent > 50) continue;
      chances_[index_of(at, home, size)] =
          range / r * portable::exp(-exponent) / std::sqrt(2 * portable::pi * variance);
    }
  }
}

/// One round of the iteration. Returns the variance of the radial velocities at the radius with the index `reference`.
double StationaryDisc::fit_density(int reference) {
  double variance_there = 0;
  std::vector<double> fitted = weights_;
  for (int at = 0; at < size; ++at) {
    const auto a = static_cast<std::size_t>(at);
    double density = 0, pressure = 0;
    for (int home = 0; home < size; ++home) {
      const auto h = static_cast<std::size_t>(home);
      const double part = weights_[h] * chances_[index_of(at, home, size)];
      density += part;
      pressure += part * profile_.dispersion_sq[h];
    }
    if (density > 0) {
      fitted[a] *= std::clamp(profile_.surface_density[a] / density, 1 / largest_factor, largest_factor);
    }
    if (at == reference) variance_there = pressure / density;
  }
  weights_ = std::move(fitted);
  return variance_there;
}

void StationaryDisc::tabulate_speeds() {
  static const auto shares = normal_shares();
  speeds_.resize(static_cast<std::size_t>(size) * deviate_count);
  for (int at = 0; at < size; ++at) {
    double total = 0;
    for (int home = 0; home < size; ++home) {
      total += weights_[static_cast<std::size_t>(home)] * chances_[index_of(at, home, size)];
    }
    int deviate = 0;
    double below = 0, low = 0;  // the share of slower bodies, and the angular momentum up to which it counts
    for (int home = 0; home < size; ++home) {
      const auto h = static_cast<std::size_t>(home);
      const bool last = home + 1 == size;
      const double share = weights_[h] * chances_[index_of(at, home, size)] / total;
      const double high = last ? angular_momentum_[h] : (angular_momentum_[h] + angular_momentum_[h + 1]) / 2;
      while (deviate < deviate_count && (last || shares[static_cast<std::size_t>(deviate)] <= below + share)) {
        const double rest = shares[static_cast<std::size_t>(deviate)] - below;
        const double within = share > 0 ? std::clamp(rest / share, 0.0, 1.0) : 0;
        speeds_[index_of(at, deviate, deviate_count)] = (low + within * (high - low)) / radius(at);
        ++deviate;
      }
      below += share;
      low = high;
    }
  }
}

StationaryDisc::Velocity StationaryDisc::draw(double at_radius, Random& random) const {
  const double place = std::max(std::sqrt(at_radius / edge) * size - 1, 0.0);
  const int ring = std::min(static_cast<int>(place), size - 2);
  const double outer = std::min(place - ring, 1.0);
  const double deviate = std::clamp((random.gaussian() + widest) * deviates_per_unit, 0.0, deviate_count - 1.0);
  const int step = std::min(static_cast<int>(deviate), deviate_count - 2);
  const double next = deviate - step;
  const auto speed = [&](int at) {
    const std::size_t first = index_of(at, step, deviate_count);
    return speeds_[first] * (1 - next) + speeds_[first + 1] * next;
  };
  const double along = speed(ring) * (1 - outer) + speed(ring + 1) * outer;

  const auto home = std::ranges::lower_bound(angular_momentum_, along * at_radius) - angular_momentum_.begin();
  const auto orbit = static_cast<std::size_t>(std::min<std::ptrdiff_t>(home, size - 1));
  return {std::sqrt(profile_.dispersion_sq[orbit]) * random.gaussian(), along};
}

}  // namespace orrery
