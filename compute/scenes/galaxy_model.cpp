#include "compute/scenes/galaxy_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compute/scenes/portable_math.h"

namespace orrery {
namespace {

constexpr int table_size = 400;
constexpr double table_edge = GalaxyModel::edge;
constexpr double toomre_radius = 2.2;
constexpr double share_of_disc = 0.98265;  // of an endless exponential disc: 1 - 7 exp(-6)

/// Cosines of `count` angles at the middles of equal parts of (0, pi); count is a power of two.
template <int count>
std::array<double, count> half_turn_cosines() {
  double cosine = -1, sine = 0;  // of pi; the angle is halved until it is half a part
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

/// The variance in one dimension of a Gaussian in three of dispersion 1 without the speeds above `fastest`.
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

/// Heights above the middle of a layer sech^2(z / thickness) that stand for equally many of its bodies on one side.
template <int count>
std::array<double, count> heights_in_layer(double thickness) {
  std::array<double, count> heights;
  for (int i = 0; i < count; ++i) {
    const double share = 0.5 + (i + 0.5) / (2 * count);
    heights[static_cast<std::size_t>(i)] = thickness / 2 * portable::log(share / (1 - share));
  }
  return heights;
}

/// Differences in height that stand for equally many pairs of its bodies.
template <int count>
std::array<double, count> differences_in_layer(double thickness) {
  const auto share_below = [](double t) {  // of the differences of two logistic deviates
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

/// Softened shells. The mass within a radius, softened as one point, pulls up to 7 % more within the bulge.
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
    for (const Shell& shell : shells) {  // of the potential m (near - far) / (2 shell r)
      const double far = std::sqrt((r + shell.radius) * (r + shell.radius) + softening_sq_);
      const double near = std::sqrt((r - shell.radius) * (r - shell.radius) + softening_sq_);
      const double slope = (r + shell.radius) / far - (r - shell.radius) / near;
      pull += shell.mass / (2 * shell.radius * r) * ((far - near) / r - slope);
    }
  }
}

/// The disc's thickness adds to the softening.
double GalaxyModel::disc_pull_in_plane(double radius) const {
  return disc_pull(radius, softening_sq_ + design_.disc_height * design_.disc_height / 4);
}

/// Models the disc as softened rings.
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

/// The mean pull towards the axis on the disc's bodies at this distance from it, which is less than that in the plane:
/// for `spiral`, by 6 % at 0.2 scale lengths and 2 % at 0.8.
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

/// The mean of height times pull towards the plane, which is the square of the dispersion in equilibrium. The disc is
/// an infinite layer of the density here, which for `spiral` is up to a fifth too much within a scale length.
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

/// Without the fastest, the bodies would be too slow: the halo of `spiral` had 6 % more mass within 2 scale lengths
/// after two rotations.
void GalaxyModel::widen(Table& dispersion) const {
  constexpr double widest = 1;  // in fastest speeds: wider ones change little
  for (std::size_t i = 0; i < dispersion.values.size(); ++i) {
    const double fastest = fastest_share * escape_speed_.values[i], asked = dispersion.values[i];
    if (fastest > 6 * asked) continue;  // none is that fast
    double wide = asked;
    for (int round = 0; round < 12; ++round) {
      wide = std::min(asked / std::sqrt(truncated_variance(fastest / wide)), widest * fastest);
    }
    dispersion.values[i] = std::max(wide, asked);
  }
}

void GalaxyModel::tabulate_disc() {
  // The circular speed squared, on a coarse uniform grid: it is smooth, and 64 times as costly as any other value here.
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
    // The disc's own weight (an isothermal sheet), and the pull of the spheroids towards the plane.
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

/// Sigma falls as that of the Gaussians does.
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

}  // namespace orrery
