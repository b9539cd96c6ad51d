#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/kernels/tree_facet.h"

// Root cube of a tree: keys of the bodies along curves through its cells, and the units in which a tree computes.
namespace orrery {

/// Number of octree levels below the root that a key distinguishes: its bits on each axis.
inline constexpr int key_levels = 21;

/// Root cube of a tree, with the mass scale for TreeUnits.
struct TreeCube {
  Vec3 low;        ///< corner of smallest coordinates
  float size = 0;  ///< length of an edge, > 0
  float mass = 0;  ///< largest mass of a body; 0: no body has a mass
};

/// Returns a cube that contains a box, whose sides may be zero.
ORRERY_HD inline TreeCube cube_around(Vec3 low, Vec3 high, float mass = 0) {
  const float dx = high.x - low.x, dy = high.y - low.y, dz = high.z - low.z;
  const float xy = dx > dy ? dx : dy;
  const float widest = dz > xy ? dz : xy;
  return {low, widest > 0 ? widest : 1.0f, mass};
}

/// Spreads the lowest 21 bits: puts two zero bits before each.
ORRERY_HD inline std::uint64_t spread_bits(std::uint64_t bits) {
  bits &= 0x1fffff;
  bits = (bits | bits << 32) & 0x001f00000000ffff;
  bits = (bits | bits << 16) & 0x001f0000ff0000ff;
  bits = (bits | bits << 8) & 0x100f00f00f00f00f;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
  return (bits | bits << 2) & 0x1249249249249249;
}

/// Inverts spread_bits(). Ignores the bits in between.
ORRERY_HD inline std::uint64_t gather_bits(std::uint64_t bits) {
  bits &= 0x1249249249249249;
  bits = (bits | bits >> 2) & 0x10c30c30c30c30c3;
  bits = (bits | bits >> 4) & 0x100f00f00f00f00f;
  bits = (bits | bits >> 8) & 0x001f0000ff0000ff;
  bits = (bits | bits >> 16) & 0x001f00000000ffff;
  return (bits | bits >> 32) & 0x1fffff;
}

/// Returns the index in [0, 2^21) of the finest cell that contains a coordinate. Clamps, since rounding may put a
/// coordinate outside.
ORRERY_HD inline std::uint64_t finest_cell(float x, float low, float cells_per_length) {
  constexpr float cells = 1 << key_levels;
  const float cell = (x - low) * cells_per_length;
  return !(cell > 0) ? 0 : cell < cells ? static_cast<std::uint64_t>(cell) : (1 << key_levels) - 1;
}

/// Returns the 63-bit Morton key of a point in the cube.
ORRERY_HD inline std::uint64_t morton_key(const TreeCube& cube, float x, float y, float z) {
  const float cells_per_length = static_cast<float>(1 << key_levels) / cube.size;
  return spread_bits(finest_cell(x, cube.low.x, cells_per_length)) << 2 |
         spread_bits(finest_cell(y, cube.low.y, cells_per_length)) << 1 |
         spread_bits(finest_cell(z, cube.low.z, cells_per_length));
}

/// Returns the index of the cell of `level` >= 1 that contains the key, among its parent's eight children in key order.
ORRERY_HD inline int child_of_key(std::uint64_t key, int level) {
  return static_cast<int>(key >> 3 * (key_levels - level)) & 7;
}

/// Returns the deepest level at which both keys are in one cell.
inline int common_level(std::uint64_t a, std::uint64_t b) {
  return a == b ? key_levels : (std::countl_zero(a ^ b) - 1) / 3;
}

/// Returns the number of keys in a cell of `level` in [0, key_levels].
inline std::uint64_t keys_in_cell(int level) {
  return std::uint64_t{1} << 3 * (key_levels - level);
}

/// Returns the smallest key in the cell of `level` that contains the key.
inline std::uint64_t first_key_in_cell(std::uint64_t key, int level) {
  return key & ~(keys_in_cell(level) - 1);
}

/// Returns the cell of `level` in [0, key_levels] that contains the key.
ORRERY_HD inline TreeCell cell_of_key(const TreeCube& cube, std::uint64_t key, int level) {
  const std::uint64_t prefix = key >> 3 * (key_levels - level);
  const float size = cube.size / static_cast<float>(1 << level);
  const auto center = [&](float low, std::uint64_t bits) {
    return low + (static_cast<float>(gather_bits(bits)) + 0.5f) * size;
  };
  return {
      {center(cube.low.x, prefix >> 2), center(cube.low.y, prefix >> 1), center(cube.low.z, prefix)}, size / 2, level};
}

/// Returns the 63-bit key of a point in the cube along Hilbert's curve (Skilling 2004, AIP Conf. Proc. 707, 381). As
/// with Morton keys, sorting makes the bodies of every octree cell consecutive, but the order of a cell's eight
/// children varies. Consecutive bodies are always close, so that a run of them fills a small box.
ORRERY_HD inline std::uint64_t hilbert_key(const TreeCube& cube, float x, float y, float z) {
  const float cells_per_length = static_cast<float>(1 << key_levels) / cube.size;
  auto a = static_cast<std::uint32_t>(finest_cell(x, cube.low.x, cells_per_length));
  auto b = static_cast<std::uint32_t>(finest_cell(y, cube.low.y, cells_per_length));
  auto c = static_cast<std::uint32_t>(finest_cell(z, cube.low.z, cells_per_length));
  // Undoes the rotations and reflections of the curve in each octant, from the coarsest level down.
  const auto turn = [&a](std::uint32_t& other, std::uint32_t bit) {
    const std::uint32_t below = bit - 1;
    if (other & bit) {
      a ^= below;
    } else {
      const std::uint32_t differ = (a ^ other) & below;
      a ^= differ;
      other ^= differ;
    }
  };
  for (std::uint32_t bit = 1u << (key_levels - 1); bit > 1; bit >>= 1) {
    if (a & bit) a ^= bit - 1;
    turn(b, bit);
    turn(c, bit);
  }
  // The octants of a level follow each other in the order of a Gray code.
  b ^= a;
  c ^= b;
  std::uint32_t flips = 0;
  for (std::uint32_t bit = 1u << (key_levels - 1); bit > 1; bit >>= 1) {
    if (c & bit) flips ^= bit - 1;
  }
  return spread_bits(a ^ flips) << 2 | spread_bits(b ^ flips) << 1 | spread_bits(c ^ flips);
}

/// Keys in [begin, end).
struct KeyRange {
  std::uint64_t begin = 0, end = std::uint64_t{1} << 3 * key_levels;
};

/// Units in which a tree stores its cells and computes pulls. They are powers of two, so that every conversion is
/// exact. The root cube's side is from 512 to 1024, and the largest mass of a body from 1 to 2. So powers of distances
/// and masses stay in the range of float for any units of the bodies.
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

  /// Returns the softening length in the units of the tree. Its minimum keeps powers of the inverse distance finite
  /// where a body is paired with itself: about 1e-15 of the root cube; with repulsion H, 6e-8 H^(1/5) in these units.
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

  /// Returns the exponent of a value, or 0 if the value is not positive. Returns 128 for infinity, beyond all finite
  /// values, since ilogbf() returns no usable exponent for it.
  ORRERY_HD static int exponent_of(float of) {
    constexpr int of_infinity = 128;
    const int exponent = of > 0 ? ilogbf(of) : 0;
    return exponent < of_infinity ? exponent : of_infinity;
  }
  ORRERY_HD static float power_of_two(int exponent) {
    return ldexpf(1, exponent < -most ? -most : exponent > most ? most : exponent);
  }

  float length_, mass_, inverse_length_, inverse_mass_;  // conversion factors
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
