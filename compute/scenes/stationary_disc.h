#pragma once

#include <vector>

#include "compute/scenes/random.h"

namespace orrery {

/// Velocities in the plane of a disc that is in equilibrium however warm it is: the distribution function of Shu 1969,
/// F(L) exp(-(E - E_c(L)) / sigma^2(L)) with the energy E_c of the circular orbit of angular momentum L. F is found by
/// iteration, so that the surface density is the given one (Dehnen 1999, AJ 118, 1201).
class StationaryDisc {
 public:
  static constexpr int size = 256;
  static constexpr double edge = 9;
  /// Of the values below, growing as the square of the index.
  static double radius(int index);

  /// Values at each radius().
  struct Profile {
    std::vector<double> circular_sq;      ///< speed of a circular orbit, squared; > 0
    std::vector<double> surface_density;  ///< up to a constant factor; > 0
    std::vector<double> dispersion_sq;    ///< sigma^2 of the orbits about this radius, up to a constant factor; > 0
  };
  /// Scales sigma so that the dispersion of the radial velocities at `reference_radius` is `reference_dispersion`.
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
  std::vector<double> weights_;  // by radius of the circular orbit: F times 2 pi times the variance
  std::vector<double> chances_;  // density at a radius of the orbits about another, if their weight is 1
  std::vector<double> speeds_;   // quantiles of the speed along the rotation, by radius and normal deviate
};

}  // namespace orrery
