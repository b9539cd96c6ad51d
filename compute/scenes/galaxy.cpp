#include "compute/scenes/galaxy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "compute/scenes/draft.h"

namespace orrery {
namespace {

constexpr double largest_seed = 0.1;  // largest relative amplitude; limits rings with few bodies

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

namespace {

constexpr int rounds = 12;            // rounds of the iteration; the densities agree to 1 % after 6
constexpr double largest_factor = 2;  // largest factor by which a round changes a value
constexpr double widest = 4;          // normal deviates are cut off at this magnitude
constexpr double beyond = 3.167e-5;   // share of normal deviates that are cut off, on each side
constexpr int deviates_per_unit = 5;
constexpr int deviate_count = 2 * static_cast<int>(widest) * deviates_per_unit + 1;

constexpr std::size_t index_of(int radius, int other, int count) {
  return static_cast<std::size_t>(radius) * static_cast<std::size_t>(count) + static_cast<std::size_t>(other);
}

/// Returns, for each of deviate_count equally spaced normal deviates, the share of deviates below it, by Simpson's
/// rule.
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

/// Fills in chances_ for each radius and each guiding radius: the surface density at the radius if the orbits with this
/// guiding radius have a weight of 1. It is the integral of their distribution function over the velocities.
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

/// Corrects the weights once, towards the wanted density. Returns the variance of the radial velocities at the radius
/// with the index `reference`.
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
    double below = 0, low = 0;  // share of the slower bodies, and the largest angular momentum among them
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

namespace {

constexpr int table_size = 400;
constexpr double table_edge = GalaxyModel::edge;
constexpr double toomre_radius = 2.2;
constexpr double share_of_disc = 0.98265;  // share of an infinite exponential disc: 1 - 7 exp(-6)

/// Returns the cosines of the middles of `count` equal parts of (0, pi). `count` is a power of two.
template <int count>
std::array<double, count> half_turn_cosines() {
  double cosine = -1, sine = 0;  // cosine and sine of pi; the angle is halved until it is half a part
  for (int parts = 1; parts < 2 * count; parts *= 2) {
    sine = std::sqrt((1 - cosine) / 2);
    cosine = std::sqrt((1 + cosine) / 2);
  }
  const double step_cosine = cosine * cosine - sine * sine;
  const double step_sine = 2 * sine * cosine;
  std::array<double, count> cosines;
  for (double& value : cosines) {
    value = cosine;
    const double turned = cosine * step_cosine - sine * step_sine;
    sine = sine * step_cosine + cosine * step_sine;
    cosine = turned;
  }
  return cosines;
}

/// Returns the variance in one dimension of a three-dimensional Gaussian of dispersion 1 that lacks speeds above
/// `fastest`.
double truncated_variance(double fastest) {
  constexpr int parts = 32;
  double bodies = 0, squares = 0;
  for (int i = 1; i <= parts; ++i) {
    const double v = fastest * i / parts, v_sq = v * v;
    const double weight = i == parts ? 1 : i % 2 == 1 ? 4 : 2;  // Simpson's rule
    const double share = weight * v_sq * portable::exp(-v_sq / 2);
    bodies += share;
    squares += share * v_sq;
  }
  return squares / bodies / 3;
}

/// Returns `count` heights above the middle of a layer sech^2(z / thickness). Each represents an equal share of the
/// bodies on one side.
template <int count>
std::array<double, count> heights_in_layer(double thickness) {
  std::array<double, count> heights;
  for (int i = 0; i < count; ++i) {
    const double share = 0.5 + (i + 0.5) / (2 * count);
    heights[static_cast<std::size_t>(i)] = thickness / 2 * portable::log(share / (1 - share));
  }
  return heights;
}

/// Returns `count` differences in height. Each represents an equal share of the pairs of bodies in the layer.
template <int count>
std::array<double, count> differences_in_layer(double thickness) {
  const auto share_below = [](double t) {  // share of differences of two logistic deviates that are below t
    const double power = portable::exp(-t);
    return (1 - (t + 1) * power) / ((1 - power) * (1 - power));
  };
  std::array<double, count> differences;
  for (int i = 0; i < count; ++i) {
    double low = 1e-3, high = 20;
    for (int round = 0; round < 40; ++round) {
      const double middle = (low + high) / 2;
      (share_below(middle) < 0.5 + (i + 0.5) / (2 * count) ? low : high) = middle;
    }
    differences[static_cast<std::size_t>(i)] = thickness / 2 * low;
  }
  return differences;
}

}  // namespace

double Spheroid::enclosed_mass(double r) const {
  if (r >= edge) return mass;
  const double to_edge = edge / (edge + scale);
  const double to_r = r / (r + scale);
  return mass * (to_r * to_r) / (to_edge * to_edge);
}

double Spheroid::density_shape(double r) const {
  const double outer = r + scale;
  return r < edge ? 1 / (r * outer * outer * outer) : 0;
}

double Spheroid::radius_enclosing(double mass_fraction) const {
  const double root = std::sqrt(mass_fraction) * edge / (edge + scale);
  return scale * root / (1 - root);
}

double GalaxyModel::Table::at(double radius) const {
  const double place = std::sqrt(radius / table_edge) * (table_size - 1);
  const int below = std::clamp(static_cast<int>(place), 0, table_size - 2);
  const double share = std::min(place - below, 1.0);
  const auto index = static_cast<std::size_t>(below);
  return values[index] * (1 - share) + values[index + 1] * share;
}

double GalaxyModel::table_radius(int index) {
  const double share = static_cast<double>(std::max(index, 1)) / (table_size - 1);  // not 0, where densities diverge
  return table_edge * share * share;
}

GalaxyModel::GalaxyModel(const GalaxyDesign& design, double softening)
    : design_{design}, softening_sq_{softening * softening} {
  if (design.stationary) tabulate_spheroids();
  bulge_dispersion_ = jeans_dispersion(design.bulge);
  halo_dispersion_ = jeans_dispersion(design.halo);

  escape_speed_.values.resize(table_size);
  double potential = -1 / table_edge;
  for (int i = table_size - 1; i >= 0; --i) {
    if (i < table_size - 1) {
      const double inner = table_radius(i), outer = table_radius(i + 1);
      potential -= (spherical_pull(inner, true) + spherical_pull(outer, true)) / 2 * (outer - inner);
    }
    escape_speed_.values[static_cast<std::size_t>(i)] = std::sqrt(-2 * potential);
  }
  if (design.stationary) {
    widen(bulge_dispersion_);
    widen(halo_dispersion_);
  }
  tabulate_disc();
}

DiscVelocity GalaxyModel::draw_disc_velocity(double radius, Random& random) const {
  DiscVelocity v;
  if (stationary_disc_) {
    const StationaryDisc::Velocity in_plane = stationary_disc_->draw(radius, random);
    v.outward = in_plane.outward;
    v.along = in_plane.along;
  } else {
    v.outward = radial_dispersion_.at(radius) * random.gaussian();
    v.along = streaming_.at(radius) + azimuthal_dispersion_.at(radius) * random.gaussian();
  }
  v.up = vertical_dispersion_.at(radius) * random.gaussian();
  return v;
}

double GalaxyModel::disc_surface_density(double radius) const {
  return design_.disc_mass / (2 * portable::pi) * portable::exp(-radius);
}

double GalaxyModel::spherical_pull(double radius, bool with_disc) const {
  const double r_sq = radius * radius + softening_sq_;
  const double spheroids =
      design_.stationary ? 0 : design_.bulge.enclosed_mass(radius) + design_.halo.enclosed_mass(radius);
  const double mass = spheroids + (with_disc ? design_.disc_mass * (1 - (1 + radius) * portable::exp(-radius)) : 0);
  const double pull = mass * radius / (r_sq * std::sqrt(r_sq));
  return design_.stationary ? pull + spheroid_pull_.at(radius) : pull;
}

/// Tabulates the acceleration by the spheroids as a sum over softened shells. Treating the mass within a radius as one
/// softened point would give up to 7 % too much within the bulge.
void GalaxyModel::tabulate_spheroids() {
  struct Shell {
    double radius, mass;
  };
  std::vector<Shell> shells;
  const auto enclosed = [this](double r) { return design_.bulge.enclosed_mass(r) + design_.halo.enclosed_mass(r); };
  double inner = 0;
  for (int i = 1; i < table_size; ++i) {
    const double outer = table_radius(i);
    shells.push_back({(inner + outer) / 2, enclosed(outer) - enclosed(inner)});
    inner = outer;
  }
  spheroid_pull_.values.resize(table_size);
  for (int i = 0; i < table_size; ++i) {
    const double r = table_radius(i);
    double& pull = spheroid_pull_.values[static_cast<std::size_t>(i)];
    for (const Shell& shell : shells) {  // the potential is m (near - far) / (2 shell.radius r)
      const double far = std::sqrt((r + shell.radius) * (r + shell.radius) + softening_sq_);
      const double near = std::sqrt((r - shell.radius) * (r - shell.radius) + softening_sq_);
      const double slope = (r + shell.radius) / far - (r - shell.radius) / near;
      pull += shell.mass / (2 * shell.radius * r) * ((far - near) / r - slope);
    }
  }
}

/// Returns the disc's acceleration in its plane. The thickness of the disc counts as additional softening.
double GalaxyModel::disc_pull_in_plane(double radius) const {
  return disc_pull(radius, softening_sq_ + design_.disc_height * design_.disc_height / 4);
}

/// Returns the disc's acceleration at a radius, as a sum over softened rings.
double GalaxyModel::disc_pull(double radius, double softening_sq) const {
  static const auto cosines = half_turn_cosines<64>();
  constexpr int rings = 160;
  constexpr double width = disc_edge / rings;
  double pull = 0;
  for (int i = 0; i < rings; ++i) {
    const double ring = (i + 0.5) * width;
    double sum = 0;
    for (const double cosine : cosines) {
      const double distance_sq = radius * radius + ring * ring - 2 * radius * ring * cosine + softening_sq;
      sum += (radius - ring * cosine) / (distance_sq * std::sqrt(distance_sq));
    }
    pull += disc_surface_density(ring) * ring * width * (2 * portable::pi / static_cast<double>(cosines.size())) * sum;
  }
  return pull;
}

/// Returns the mean pull towards the axis on the disc's bodies at this distance from the axis. It is weaker than the
/// pull in the plane: for `spiral`, by 6 % at 0.2 scale lengths and by 2 % at 0.8.
double GalaxyModel::mean_pull_on_disc(double radius) const {
  static constexpr int parts = 8;
  double pull = 0;
  for (const double z : heights_in_layer<parts>(design_.disc_height)) {
    const double distance = std::sqrt(radius * radius + z * z);
    pull += spherical_pull(distance, false) * radius / distance / parts;
  }
  constexpr int pairs = 4;
  for (const double z : differences_in_layer<pairs>(design_.disc_height)) {
    pull += disc_pull(radius, softening_sq_ + z * z) / (pairs * share_of_disc);
  }
  return pull;
}

/// Returns the mean of height times pull towards the plane, which in equilibrium is the squared vertical dispersion.
/// The disc is treated as an infinite layer of the local density; for `spiral`, this is up to a fifth too much within a
/// scale length.
double GalaxyModel::mean_virial_of_height(double radius) const {
  constexpr int parts = 32;
  double virial = 0;
  for (const double z : heights_in_layer<parts>(design_.disc_height)) {
    const double distance = std::sqrt(radius * radius + z * z);
    virial += spherical_pull(distance, false) * z * z / distance / parts;
  }
  for (const double z : differences_in_layer<parts>(design_.disc_height)) {
    virial +=
        portable::pi * disc_surface_density(radius) / share_of_disc * z * z / std::sqrt(z * z + softening_sq_) / parts;
  }
  return virial;
}

GalaxyModel::Table GalaxyModel::jeans_dispersion(const Spheroid& part) const {
  Table table{std::vector<double>(table_size)};
  const auto pressure_gradient = [&](double r) { return part.density_shape(r) * spherical_pull(r, true); };
  double pressure = 0;
  for (int i = table_size - 2; i >= 0; --i) {
    const double inner = table_radius(i), outer = table_radius(i + 1);
    pressure += (pressure_gradient(inner) + pressure_gradient(outer)) / 2 * (outer - inner);
    const double density = part.density_shape(inner);
    if (density > 0) table.values[static_cast<std::size_t>(i)] = std::sqrt(pressure / density);
  }
  return table;
}

/// Widens the dispersion to make up for the fastest velocities, which are not drawn. Without this, bodies are too slow:
/// the halo of `spiral` had 6 % more mass within 2 scale lengths after two rotations.
void GalaxyModel::widen(Table& dispersion) const {
  constexpr double widest = 1;  // largest dispersion, in units of the fastest speed; larger ones change little
  for (std::size_t i = 0; i < dispersion.values.size(); ++i) {
    const double fastest = fastest_share * escape_speed_.values[i], asked = dispersion.values[i];
    if (fastest > 6 * asked) continue;  // practically no body is that fast
    double wide = asked;
    for (int round = 0; round < 12; ++round) {
      wide = std::min(asked / std::sqrt(truncated_variance(fastest / wide)), widest * fastest);
    }
    dispersion.values[i] = std::max(wide, asked);
  }
}

void GalaxyModel::tabulate_disc() {
  // The circular speed squared is tabulated on a coarse uniform grid: it is smooth, and 64 times as expensive as any
  // other value here.
  constexpr int coarse_size = 97;
  constexpr double coarse_step = table_edge / (coarse_size - 1);
  std::array<double, coarse_size> circular_sq{};
  for (int i = 1; i < coarse_size; ++i) {
    const double radius = i * coarse_step;
    const double pull = spherical_pull(radius, false) + disc_pull_in_plane(radius);
    circular_sq[static_cast<std::size_t>(i)] = radius * std::max(pull, 0.0);
  }
  struct Rotation {
    double circular_sq, epicyclic_to_circular_sq;  // v_c^2 and (kappa / Omega)^2
  };
  const auto rotation = [&](double radius) {
    const double place = radius / coarse_step;
    const auto below = static_cast<std::size_t>(std::clamp(static_cast<int>(place), 0, coarse_size - 2));
    const double share = place - static_cast<double>(below);
    const double value = circular_sq[below] * (1 - share) + circular_sq[below + 1] * share;
    const double slope = (circular_sq[below + 1] - circular_sq[below]) / coarse_step;
    return Rotation{value, std::clamp(2 + slope * radius / value, 1.0, 4.0)};  // 1: Keplerian, 4: rigid body
  };

  const Rotation there = rotation(toomre_radius);
  const double epicyclic = std::sqrt(there.epicyclic_to_circular_sq * there.circular_sq) / toomre_radius;
  const double dispersion_there = design_.toomre_q * 3.36 * disc_surface_density(toomre_radius) / epicyclic;
  for (Table* table : {&streaming_, &radial_dispersion_, &azimuthal_dispersion_, &vertical_dispersion_}) {
    table->values.resize(table_size);
  }
  for (int i = 0; i < table_size; ++i) {
    const double radius = table_radius(i);
    const auto [speed_sq, ratio_sq] = rotation(radius);
    const double radial = dispersion_there * portable::exp((toomre_radius - radius) / 2);
    const double radial_sq = std::min(radial * radial, speed_sq / 2);
    // Both the density and the dispersion squared fall as exp(-R): Binney and Tremaine 2008, eq. 4.228.
    const double streaming_sq = speed_sq + radial_sq * (1 - ratio_sq / 4 - 2 * radius);
    // The terms are the disc's own weight (an isothermal sheet) and the pull of the spheroids towards the plane.
    const double height = design_.disc_height, height_sq = height * height;
    const double vertical_sq = portable::pi * disc_surface_density(radius) * height +
                               portable::pi * portable::pi / 12 * height_sq * spherical_pull(radius, false) / radius;
    const auto index = static_cast<std::size_t>(i);
    streaming_.values[index] = std::sqrt(std::max(streaming_sq, 0.0));
    radial_dispersion_.values[index] = std::sqrt(radial_sq);
    azimuthal_dispersion_.values[index] = std::sqrt(radial_sq * ratio_sq / 4);
    vertical_dispersion_.values[index] = std::sqrt(design_.stationary ? mean_virial_of_height(radius) : vertical_sq);
  }
  if (design_.stationary) make_stationary_disc(dispersion_there);
}

/// Makes the StationaryDisc. Its dispersion falls with the radius as that of the Gaussians does.
void GalaxyModel::make_stationary_disc(double dispersion_there) {
  StationaryDisc::Profile profile;
  for (int i = 0; i < StationaryDisc::size; ++i) {
    const double radius = StationaryDisc::radius(i);
    const double speed_sq = radius * std::max(mean_pull_on_disc(radius), 1e-9);
    const double dispersion_sq = dispersion_there * dispersion_there * portable::exp(toomre_radius - radius);
    profile.circular_sq.push_back(speed_sq);
    profile.surface_density.push_back(disc_surface_density(radius));
    profile.dispersion_sq.push_back(std::min(dispersion_sq, speed_sq / 2));
  }
  stationary_disc_.emplace(std::move(profile), toomre_radius, dispersion_there);
}

namespace {

void turn(Vec3d& v, double cosine, double sine) {
  v = {v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z};
}

/// Rotates every body of a disc about z towards the crests of the waves.
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

  // A part without bodies gives its mass to the other parts, so that the total mass does not depend on the count.
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

Draft encounter(const Encounter& design, int in_first, int in_second, Random& random) {
  const double speed = std::sqrt(2 / design.start_distance);
  const double sideways = std::sqrt(2 * design.closest_distance) / design.start_distance;
  const Vec3d velocity{-std::sqrt(speed * speed - sideways * sideways), sideways, 0};

  Draft draft;
  append_galaxy(draft, design.first, in_first, random);
  append_galaxy(draft, design.second, in_second, random);
  for (std::size_t i = 0; i < draft.size(); ++i) {
    auto& [m, x, v] = draft[i];
    const bool first = i < static_cast<std::size_t>(in_first);
    const Tilt& tilt = first ? design.first_tilt : design.second_tilt;
    x = tilt(x);
    v = tilt(v);
    if (first) continue;
    x.x += design.start_distance;
    v = {v.x + velocity.x, v.y + velocity.y, v.z};
  }
  return draft;
}

}  // namespace orrery
