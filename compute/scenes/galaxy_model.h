#pragma once

#include <vector>

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

/// How the disc moves at one radius.
struct DiscMotion {
  double streaming;  ///< mean speed of rotation, slower than a circular orbit by the asymmetric drift
  double radial_dispersion, azimuthal_dispersion, vertical_dispersion;
};

/// The forces and motions of a galaxy of mass 1 whose disc has the scale length 1, tabulated once.
class GalaxyModel {
 public:
  /// Values at radii that grow as the square of the index, linear in between.
  struct Table {
    std::vector<double> values;
    double at(double radius) const;
  };

  static constexpr double disc_edge = 6;
  static constexpr double edge = 9;

  GalaxyModel(const GalaxyDesign& design, double softening);

  DiscMotion disc_motion(double radius) const;
  /// Dispersions in one dimension, from the Jeans equation of an isotropic spheroid.
  const Table& bulge_dispersion() const { return bulge_dispersion_; }
  const Table& halo_dispersion() const { return halo_dispersion_; }
  const Table& escape_speed() const { return escape_speed_; }

 private:
  static double table_radius(int index);
  double spherical_pull(double radius, bool with_disc) const;
  double disc_pull_in_plane(double radius) const;
  Table jeans_dispersion(const Spheroid& part) const;
  double disc_surface_density(double radius) const;
  void tabulate_disc();

  GalaxyDesign design_;
  double softening_sq_;
  Table bulge_dispersion_, halo_dispersion_, escape_speed_;
  Table streaming_, radial_dispersion_, azimuthal_dispersion_, vertical_dispersion_;
};

}  // namespace orrery
