// Disc galaxies with bulge and halo, their models, and encounters of two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/core/vec.h"
#include "compute/scenes/draft.h"
#include "compute/scenes/scene.h"

namespace orrery {

/// Density waves cos(m phi) and sin(m phi) of m = 2 to 4 arms, in an exponential disc of scale length 1. Amplitudes are
/// random on rings and linear between them.
///
/// Arms grow from unevenness in a disc. Shot noise falls with the number of bodies, so that arms among a million would
/// take many rotations. These waves give such a disc the noise of fewer bodies.
class SeedWaves {
 public:
  static constexpr double disc_edge = 6;

  /// Draws waves with the amplitudes of shot noise in a disc of `bodies` > 0 bodies.
  SeedWaves(double bodies, Random& random);

  /// Returns the angle, in radians, by which to rotate a body at `radius` in the direction (cosine, sine). Minus its
  /// derivative is the relative excess of the density.
  double turn(double radius, double cosine, double sine) const;

 private:
  static constexpr int least_arms = 2, most_arms = 4;
  static constexpr double ring_width = 0.4;
  static constexpr int ring_count = static_cast<int>(disc_edge / ring_width) + 2;
  struct Wave {
    double cosine, sine;
  };
  std::array<std::array<Wave, most_arms - least_arms + 1>, ring_count> rings_;
};

/// Velocities in the plane of a disc that is in equilibrium at any temperature: the distribution function of Shu 1969,
/// F(L) exp(-(E - E_c(L)) / sigma^2(L)) with the energy E_c of the circular orbit of angular momentum L. The radius of
/// this circular orbit is the guiding radius. F is found by iteration, so that the surface density is the given one
/// (Dehnen 1999, AJ 118, 1201).
class StationaryDisc {
 public:
  static constexpr int size = 256;
  static constexpr double edge = 9;
  /// Returns the radius of entry `index` of the profile. It grows as the square of the index.
  static double radius(int index);

  /// Values at radius(0), radius(1), and so on.
  struct Profile {
    std::vector<double> circular_sq;      ///< speed of a circular orbit, squared; > 0
    std::vector<double> surface_density;  ///< up to a constant factor; > 0
    std::vector<double> dispersion_sq;    ///< sigma^2 for this guiding radius, up to a constant factor; > 0
  };
  /// Fits the distribution. Scales sigma so that the radial velocities at `reference_radius` have this dispersion.
  StationaryDisc(Profile profile, double reference_radius, double reference_dispersion);

  struct Velocity {
    double outward, along;
  };
  Velocity draw(double at_radius, Random& random) const;

 private:
  void tabulate_orbits();
  void tabulate_chances();
  double fit_density(int reference);
  void tabulate_speeds();

  Profile profile_;
  std::vector<double> angular_momentum_, potential_;
  std::vector<double> weights_;  // 2 pi F sigma^2, by guiding radius
  std::vector<double> chances_;  // surface density for a weight of 1, by radius and guiding radius
  std::vector<double> speeds_;   // quantiles of the speed along the rotation, by radius and normal deviate
};

/// A Hernquist sphere cut off at `edge`: density ~ 1 / (r (r + scale)^3).
struct Spheroid {
  double mass;
  double scale;
  double edge;

  double enclosed_mass(double r) const;
  double density_shape(double r) const;  ///< up to a constant factor; zero from `edge` on
  double radius_enclosing(double mass_fraction) const;
};

/// Composition of a galaxy of mass 1, in units of its disc's scale length.
struct GalaxyDesign {
  double disc_mass;
  double disc_height;  ///< z0 of sech^2(z / z0)
  Spheroid bulge;
  Spheroid halo;      ///< reaches to GalaxyModel::edge
  double toomre_q;    ///< at 2.2 scale lengths, near its minimum
  double disc_share;  ///< share of the bodies; the halo gets the rest
  double bulge_share;
  /// true: the disc is a StationaryDisc, and the spheroids are widened because bodies that would escape are left out.
  /// false: all parts are in equilibrium to first order only.
  bool stationary = false;
  double seed_bodies = 0;  ///< number of bodies that sets the noise in the SeedWaves; 0: no waves
};

/// Disc warm enough not to fall into clumps, and cool enough to grow spiral arms. Each part's share of the bodies is
/// near its share of the mass, so that no body is much heavier than another and stirs the disc.
inline constexpr GalaxyDesign warm_disc_design{
    .disc_mass = 0.48,
    .disc_height = 0.12,
    .bulge = {.mass = 0.12, .scale = 0.22, .edge = 5},
    .halo = {.mass = 0.40, .scale = 3, .edge = 9},
    .toomre_q = 1.3,
    .disc_share = 0.64,
    .bulge_share = 0.12,
};

/// Disc cold enough to grow arms within one or two rotations. Within 2.2 scale lengths, disc and spheroids contribute
/// about equally to the force, which favours 2 to 4 arms: a heavier disc soon becomes a bar, a lighter one has many
/// short arms. Most bodies are in the disc, because they form the arms.
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

/// Velocity of a body of the disc.
struct DiscVelocity {
  double outward, along, up;
};

/// Forces and velocities of a galaxy of mass 1 with a disc of scale length 1, tabulated once.
class GalaxyModel {
 public:
  /// Values at radii that grow as the square of the index, with linear interpolation.
  struct Table {
    std::vector<double> values;
    double at(double radius) const;
  };

  static constexpr double disc_edge = SeedWaves::disc_edge;
  static constexpr double edge = StationaryDisc::edge;

  GalaxyModel(const GalaxyDesign& design, double softening);

  DiscVelocity draw_disc_velocity(double radius, Random& random) const;
  static constexpr double fastest_share =
      0.95;  ///< greatest speed of a spheroid's bodies, as a share of the escape speed
  /// The next two functions return, by radius, the one-dimensional dispersion of the Gaussians from which a spheroid's
  /// velocities are drawn. Velocities that are too fast are drawn again.
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
  Table spheroid_pull_;  // acceleration by the spheroids; stationary designs only
  Table bulge_dispersion_, halo_dispersion_, escape_speed_;
  Table streaming_;  // mean speed of rotation, slower than a circular orbit by the asymmetric drift
  Table radial_dispersion_, azimuthal_dispersion_, vertical_dispersion_;
  std::optional<StationaryDisc> stationary_disc_;
};

/// Galaxy whose disc, bulge and halo consist of bodies. G = 1.
struct Galaxy {
  double mass;          ///< total mass
  double scale_length;  ///< scale length of the exponential disc, which ends at 6 scale lengths
  double softening;     ///< softening length for which the galaxy is in equilibrium
  GalaxyDesign design = warm_disc_design;
};

/// Returns how many of a galaxy's `count` bodies belong to its disc; they come first.
int disc_count(const GalaxyDesign& design, int count);

/// Returns the disc, the bulge and the halo as parts of a galaxy of `count` bodies.
Parts galaxy_parts(const GalaxyDesign& design, int count);

/// Appends a galaxy of `count` bodies, centred on the origin. Its disc rotates counter-clockwise in the plane z = 0.
/// Positions follow the densities, except for the seed waves of the disc. Velocities are Gaussian with the dispersions
/// that keep each part in equilibrium to first order (Hernquist 1993, ApJS 86, 389), except those of a StationaryDisc.
void append_galaxy(Draft& draft, const Galaxy& galaxy, int count, Random& random);

/// Rotation by rational sines and cosines: first about x, then about z.
struct Tilt {
  double cos_x, sin_x, cos_z, sin_z;
  Vec3d operator()(Vec3d p) const {
    const Vec3d tipped{p.x, p.y * cos_x - p.z * sin_x, p.y * sin_x + p.z * cos_x};
    return {tipped.x * cos_z - tipped.y * sin_z, tipped.x * sin_z + tipped.y * cos_z, tipped.z};
  }
};

/// Two galaxies of total mass 1 on a parabolic orbit of point masses in the plane z = 0, before they meet. Both discs
/// rotate in the direction of the orbit, which makes long tails (Toomre and Toomre 1972).
struct Encounter {
  Galaxy first, second;
  Tilt first_tilt, second_tilt;  ///< tilt against the orbit
  double start_distance;
  double closest_distance;  ///< less than start_distance
};

/// Returns the bodies: `in_first` of the first galaxy, at the origin, then `in_second` of the second.
Draft encounter(const Encounter& design, int in_first, int in_second, Random& random);

/// Toomre's Q of the scene `spiral`, at 2.2 scale lengths of the disc. Below 1 a thin disc is unstable to rings.
inline constexpr double spiral_toomre_q = cold_disc_design.toomre_q;
/// Scale length of the exponential disc of the scene `spiral`.
inline constexpr double spiral_scale_length = 0.4;

/// Generates the scene `spiral` with any Q. The disc's bodies come first, see spiral_disc_count().
Scene spiral_galaxy(int count, std::uint64_t seed, double toomre_q);
/// Returns how many of the `count` bodies of `spiral` belong to the disc.
int spiral_disc_count(int count);

}  // namespace orrery
