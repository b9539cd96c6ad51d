#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "compute/core/vec.h"
#include "compute/kernels/tree/box.h"
#include "compute/kernels/tree/morton.h"

// The root cube of an octree, from three passes over the bodies. What the passes find is exact: it does not depend on
// the order of the bodies, nor on the ranks that have them.
namespace orrery {

/// What the first pass finds: the box around bodies, their greatest mass, and their number.
struct Bounds {
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  Box box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  float mass = 0;  ///< the greatest of a body
  std::int64_t count = 0;

  /// Coordinates that are not numbers do not count.
  void add(std::span<const Vec4> bodies);
  void add(const Bounds& other);
};

/// Coordinates of bodies as whole numbers from 0 to 2^21: double adds up those of 2^31 bodies exactly.
class CubeGrid {
 public:
  /// `all`: of all bodies, of which there is at least one.
  explicit CubeGrid(const Bounds& all);

  /// The second pass: sums of the coordinates.
  Vec3d sums(std::span<const Vec4> bodies) const;
  /// The third pass: sums of the distances from the mean along each axis. `sums`: of all bodies.
  Vec3d distances(std::span<const Vec4> bodies, const Vec3d& sums) const;
  /// From the sums over all bodies. The cube need not contain all of them: nearly all lie within 16 times the mean
  /// distance from the mean. By Markov's inequality, at most one body in 16 is farther out; including these would leave
  /// the others too few bits of the keys.
  TreeCube cube(const Vec3d& sums, const Vec3d& distances) const;

 private:
  double place(float at, float low) const;
  Vec3d mean(const Vec3d& sums) const;

  Bounds all_;
  double places_per_length_ = 0;
};

}  // namespace orrery
