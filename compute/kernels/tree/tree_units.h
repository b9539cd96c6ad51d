#pragma once

#include <cmath>
#include <type_traits>

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/kernels/tree/body_keys.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// Units in which a tree stores its cells and computes pulls. They are powers of two, so that every conversion is
/// exact. The root cube's side is from 512 to 1024, and the largest mass of a body from 1 to 2. So powers of distances
/// and masses stay in the range of float, whatever the units of the bodies.
class TreeUnits {
 public:
  ORRERY_HD explicit TreeUnits(const TreeCube& cube)
      : TreeUnits{exponent_of(cube.size) - levels_of_cube, exponent_of(cube.mass)} {}

  /// Converts from the units of the bodies to those of the tree.
  ORRERY_HD Vec4 of_body(const Vec4& body) const {
    return {body.x * inverse_length_, body.y * inverse_length_, body.z * inverse_length_, body.w * inverse_mass_};
  }
  ORRERY_HD float of_length(float length) const { return length * inverse_length_; }

  // These convert from the units of the tree to those of the bodies.
  ORRERY_HD float mass(float mass) const { return mass * mass_; }
  ORRERY_HD float length(float length) const { return length * length_; }
  ORRERY_HD Vec3 point(const Vec3& at) const { return {length(at.x), length(at.y), length(at.z)}; }
  /// Multiplies in two steps: the factor alone may leave the range of float although the acceleration does not.
  ORRERY_HD Vec3 acceleration(const Vec3& a) const {
    return {a.x * half_acceleration_ * other_half_, a.y * half_acceleration_ * other_half_,
            a.z * half_acceleration_ * other_half_};
  }
  /// Returns the exponent of the power of two that is the unit of G m / r^2.
  ORRERY_HD int acceleration_exponent() const { return acceleration_exponent_; }

  /// Returns the softening length in the units of the tree. Its floor keeps powers of the inverse distance finite where
  /// a body meets itself: about 1e-15 of the root cube; with repulsion H, 6e-8 H^(1/5) in these units.
  ORRERY_HD float softening(const Law& law) const {
    const float softening = law.softening * inverse_length_;
    float least = 0x1p-40f;
    if (law.id == LawId::attract_repel) {
      const float fifth = powf(repulsion(law), 0.2f) * 0x1p-24f;
      least = fifth > least ? fifth : least;
    }
    return softening > least ? softening : least;
  }
  ORRERY_HD float repulsion(const Law& law) const { return law.repulsion * inverse_length_ * inverse_length_; }

 private:
  static constexpr int most = 126;  ///< 2^-126 is the smallest normal power of two in float
  static constexpr int levels_of_cube = 9;

  ORRERY_HD TreeUnits(int length, int mass)
      : length_{power_of_two(length)},
        mass_{power_of_two(mass)},
        inverse_length_{power_of_two(-length)},
        inverse_mass_{power_of_two(-mass)},
        half_acceleration_{power_of_two((mass - 2 * length) / 2)},
        other_half_{power_of_two(mass - 2 * length - (mass - 2 * length) / 2)},
        acceleration_exponent_{mass - 2 * length} {}

  /// Returns the exponent of a value: 0 if it is not positive. For infinity, returns 128, beyond all finite values,
  /// since ilogbf() then returns no usable exponent.
  ORRERY_HD static int exponent_of(float of) {
    constexpr int of_infinity = 128;
    const int exponent = of > 0 ? ilogbf(of) : 0;
    return exponent < of_infinity ? exponent : of_infinity;
  }
  ORRERY_HD static float power_of_two(int exponent) {
    return ldexpf(1, exponent < -most ? -most : exponent > most ? most : exponent);
  }

  float length_, mass_, inverse_length_, inverse_mass_;  // factors
  float half_acceleration_, other_half_;                 // the factor of accelerations is their product
  int acceleration_exponent_;
};

/// Returns a law with its lengths in the units of a tree, for visit_pair_law() and visit_pair_law_of_lanes().
ORRERY_HD inline Law law_in(const TreeUnits& units, Law law) {
  const float softening = units.softening(law);
  law.repulsion = units.repulsion(law);
  law.softening = softening;
  return law;
}

/// Returns the pair law for scalars, in the units of a tree.
template <class PairLaw>
ORRERY_HD PairLaw pair_law_in(const TreeUnits& units, const Law& law) {
  const float softening = units.softening(law);
  if constexpr (std::is_same_v<PairLaw, Gravity<float>>) {
    return {softening * softening};
  } else {
    return {softening * softening, units.repulsion(law), 1};
  }
}

}  // namespace orrery
