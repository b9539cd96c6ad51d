#pragma once

#include "compute/core/law.h"
#include "compute/core/vec.h"

namespace orrery {

/// Precision of the kernels that compute jerks.
enum class JerkPrecision {
  mixed,  ///< double-float position differences; float pairs; every jerk_sum_length pairs are added to a double sum
  fp64,   ///< everything in double
};

/// Number of pairs that are summed in float before an addition in double. Shorter float sums round less but cost more.
inline constexpr int jerk_sum_length = 64;

/// A body for the pair loop, in the number types of `precision`.
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
