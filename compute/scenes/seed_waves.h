#pragma once

#include <array>

#include "compute/scenes/random.h"

namespace orrery {

/// Density waves cos(m phi) and sin(m phi) of 2 to 4 arms for an exponential disc of scale length 1: their amplitudes
/// are random from ring to ring, linear in between.
///
/// Arms grow from what is uneven in a disc. Shot noise falls with the number of bodies, so a million of them would need
/// many rotations. A disc therefore starts with the noise of fewer bodies in these waves.
class SeedWaves {
 public:
  static constexpr double disc_edge = 6;

  /// The noise of a disc of `bodies` > 0.
  SeedWaves(double bodies, Random& random);

  /// The angle to turn a body by at a radius in the direction (cosine, sine): minus its derivative is the relative
  /// excess of the density.
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

}  // namespace orrery
