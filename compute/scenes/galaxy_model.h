#pragma once

#include <optional>
#include <vector>

#include "compute/scenes/seed_waves.h"
#include "compute/scenes/stationary_disc.h"

namespace orrery {

/// A Hernquist sphere cut off at `edge`: density ~ 1 / (r (r + scale)^3).
struct Spheroid {
  double mass;
  double scale;
  double edge;

  double enclosed_mass(double r) const;
  double density_shape(double r) const;  ///< up to a constant factor; zero from `edge` on
  double radius_enclosing(double mass_fraction) const;
};

/// What a galaxy of mass 1 is made of, in units of its disc's scale length.
struct GalaxyDesign {
  double disc_mass;
  double disc_height;  ///< z0 of sech^2(z / z0)
  Spheroid bulge;
  Spheroid halo;      ///< reaches to GalaxyModel::edge
  double toomre_q;    ///< at 2.2 scale lengths, near where it is least
  double disc_share;  ///< of the bodies; the halo has what disc and bulge leave
  double bulge_share;
  /// The disc is a StationaryDisc, and the spheroids make up for the bodies that would escape. Otherwise, all parts are
  /// in equilibrium to first order only.
  bool stationary = false;
  double seed_bodies = 0;  ///< the disc starts with the SeedWaves of so many bodies; 0: none
};

/// Warm enough not to fall into clumps, cool enough to grow spiral arms. The shares are near those of the mass, so that
/// no body is much heavier than another: heavy ones would stir the disc.
inline constexpr GalaxyDesign warm_disc_design{
    .disc_mass = 0.48,
    .disc_height = 0.12,
    .bulge = {.mass = 0.12, .scale = 0.22, .edge = 5},
    .halo = {.mass = 0.40, .scale = 3, .edge = 9},
    .toomre_q = 1.3,
    .disc_share = 0.64,
    .bulge_share = 0.12,
};

/// Cold enough for arms within a rotation or two. Disc and spheroids share the force within 2.2 scale lengths about
/// equally, which favours 2 to 4 arms: a heavier disc becomes a bar at once, a lighter one has many short arms. Most
/// bodies are the disc's, because arms are made of them.
inline constexpr GalaxyDesign cold_disc_design{
    .disc_mass = 0.36,
    .disc_height = 0.07,
    .bulge = {.mass = 0.05, .scale = 0.2, .edge = 3},
    .halo = {.mass = 0.59, .scale = 2.3, .edge = 9},
    .toomre_q = 1.1,
    .disc_share = 0.72,
    .bulge_share = 0.05,
    .stationary = true,
    .seed_bodies = 5000,
};

/// Of a body of the disc.
struct DiscVelocity {
  double outward, along, up;
};

/// The forces and motions of a galaxy of mass 1 whose disc has the scale length 1, tabulated once.
class GalaxyModel {
 public:
  /// Values at radii that grow as the square of the index, linear in between.
  struct Table {
    std::vector<double> values;
    double at(double radius) const;
  };

  static constexpr double disc_edge = SeedWaves::disc_edge;
  static constexpr double edge = StationaryDisc::edge;

  GalaxyModel(const GalaxyDesign& design, double softening);

  DiscVelocity draw_disc_velocity(double radius, Random& random) const;
  static constexpr double fastest_share = 0.95;  ///< of the escape speed: no body of a spheroid is faster
  /// The dispersion in one dimension, by radius, of the Gaussians that velocities of a spheroid are drawn from. Those
  /// that are too fast are drawn again.
  const Table& bulge_dispersion() const { return bulge_dispersion_; }
  const Table& halo_dispersion() const { return halo_dispersion_; }
  const Table& escape_speed() const { return escape_speed_; }

 private:
  static double table_radius(int index);
  void tabulate_spheroids();
  double spherical_pull(double radius, bool with_disc) const;
  double disc_pull_in_plane(double radius) const;
  double disc_pull(double radius, double softening_sq) const;
  double mean_pull_on_disc(double radius) const;
  double mean_virial_of_height(double radius) const;
  Table jeans_dispersion(const Spheroid& part) const;
  void widen(Table& dispersion) const;
  double disc_surface_density(double radius) const;
  void tabulate_disc();
  void make_stationary_disc(double dispersion_there);

  GalaxyDesign design_;
  double softening_sq_;
  Table spheroid_pull_;  // of a stationary galaxy
  Table bulge_dispersion_, halo_dispersion_, escape_speed_;
  Table streaming_;  // mean speed of rotation, slower than a circular orbit by the asymmetric drift
  Table radial_dispersion_, azimuthal_dispersion_, vertical_dispersion_;
  std::optional<StationaryDisc> stationary_disc_;
};

}  // namespace orrery
