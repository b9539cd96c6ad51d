#pragma once

#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {

/// The levels of bodies in host memory, for StepOps::assign_levels and what uses them.
class BodyLevels {
 public:
  /// Gives each body its level, see StepCriterion and kept_levels(). Returns the deepest that has bodies.
  int assign(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations);
  const LevelCounts& counts() const { return counts_; }
  /// The active bodies at `now`, those of the deepest level first.
  std::span<const int> active(const Substep& now) const {
    return std::span{order_}.first(static_cast<std::size_t>(count_from(counts_, now.lowest_active())));
  }
  /// See StepOps::kick_drift_levels. Returns the first body that is not finite afterwards, or -1.
  int kick_drift(const Substep& now, const StateArrays& arrays, float drag);

 private:
  void find_levels(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations, LevelSet kept);

  std::vector<Level> levels_;
  LevelCounts counts_{};
  std::vector<int> order_;           // the bodies, the deepest level first
  std::vector<StepOrigin> origins_;  // see update_body()
};

}  // namespace orrery
