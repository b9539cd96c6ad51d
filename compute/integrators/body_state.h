#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// The arrays that updates work on, in host or device memory, one entry per body. Low words: see DoubleFloat.
struct StateArrays {
  Vec4* positions = nullptr;
  Vec4* velocities = nullptr;
  const Vec4* accelerations = nullptr;  ///< not read by an update without a kick
  Vec4* positions_low = nullptr;        ///< null under Digits::single, and so is the next
  Vec4* velocities_low = nullptr;
  const Vec4* accelerations_low = nullptr;  ///< null: the kernel gives none

  bool compensated() const { return positions_low != nullptr; }
};

/// One body of StateArrays. An update in double uses the low words, an update in float does not.
struct BodyState {
  Vec4 position, velocity, position_low, velocity_low;
};

/// Calls visit(Real{}): with double if the bodies have low words, with float otherwise.
template <class Visitor>
decltype(auto) visit_precision(const StateArrays& arrays, Visitor&& visit) {
  return arrays.compensated() ? visit(double{}) : visit(float{});
}

template <class Real>
inline constexpr bool uses_low_words = sizeof(Real) == sizeof(double);

template <class Real>
ORRERY_HD inline BodyState load_body(const StateArrays& arrays, int i) {
  BodyState body{arrays.positions[i], arrays.velocities[i], {}, {}};
  if constexpr (uses_low_words<Real>) {
    body.position_low = arrays.positions_low[i];
    body.velocity_low = arrays.velocities_low[i];
  }
  return body;
}
/// Which parts of bodies an update changes.
struct BodyChange {
  bool moves = true, kicks = true;
};
template <class Real>
ORRERY_HD inline void store_body(const StateArrays& arrays, int i, const BodyState& body, BodyChange change) {
  if (change.moves) arrays.positions[i] = body.position;
  if (change.kicks) arrays.velocities[i] = body.velocity;
  if constexpr (uses_low_words<Real>) {
    if (change.moves) arrays.positions_low[i] = body.position_low;
    if (change.kicks) arrays.velocities_low[i] = body.velocity_low;
  }
}
template <class Real>
ORRERY_HD inline Vec3Of<Real> load_acceleration(const StateArrays& arrays, int i) {
  Vec4 low;
  if constexpr (uses_low_words<Real>) {
    if (arrays.accelerations_low) low = arrays.accelerations_low[i];
  }
  return joined<Real>(arrays.accelerations[i], low);
}

}  // namespace orrery
