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

  static constexpr double disc_mass = 0.48;
  static constexpr double disc_height = 0.12;  ///< z0 of sech^2(z / z0)
  static constexpr double disc_edge = 6;
  static constexpr Spheroid bulge{.mass = 0.12, .scale = 0.22, .edge = 5};
  static constexpr Spheroid halo{.mass = 0.40, .scale = 3, .edge = 9};

  explicit GalaxyModel(double softening);

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
  void tabulate_disc();

  double softening_sq_;
  Table bulge_dispersion_, halo_dispersion_, escape_speed_;
  Table streaming_, radial_dispersion_, azimuthal_dispersion_, vertical_dispersion_;
};

}  // namespace orrery
