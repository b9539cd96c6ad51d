#pragma once

#include "compute/core/law.h"
#include "compute/core/vec.h"

namespace orrery {

/// Precision of kernels that give jerks.
enum class JerkPrecision {
  mixed,  ///< differences of double-float positions, pairs in float, sums of jerk_sum_length pairs added in double
  fp64,   ///< everything in double
};

/// Pairs between two additions to sums in double. Shorter sums in float round less, and the additions cost more.
inline constexpr int jerk_sum_length = 64;

/// A body in the number types of a precision.
template <JerkPrecision precision>
struct JerkBody;

template <>
struct JerkBody<JerkPrecision::fp64> {
  using Real = double;
  Vec3d position, velocity;
  double mass;
  ORRERY_HD static JerkBody of(const PreciseBody& body) { return {body.position, body.velocity, body.mass}; }
};

template <>
struct JerkBody<JerkPrecision::mixed> {
  using Real = float;
  Vec3Of<DoubleFloat> position;
  Vec3 velocity;
  float mass;
  ORRERY_HD static JerkBody of(const PreciseBody& body) {
    return {{DoubleFloat::of(body.position.x), DoubleFloat::of(body.position.y), DoubleFloat::of(body.position.z)},
            rounded(body.velocity),
            static_cast<float>(body.mass)};
  }
};

#include "compute/kernels/parts/jerk_pair.inl"

}  // namespace orrery
