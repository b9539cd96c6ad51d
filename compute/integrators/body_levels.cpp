#include "compute/integrators/body_levels.h"

#include "compute/integrators/finite.h"

namespace orrery {

int BodyLevels::assign(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations) {
  levels_.resize(accelerations.size());
  order_.resize(accelerations.size());
  origins_.resize(accelerations.size());
  counts_ = {};
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    const int level = criterion.level(time_step, accelerations[i]);
    levels_[i] = static_cast<Level>(level);
    ++counts_[static_cast<std::size_t>(level)];
  }
  LevelCounts next{};  // place in order_ of each level's next body
  for (int level = 0; level < most_level; ++level) {
    next[static_cast<std::size_t>(level)] = count_from(counts_, level + 1);
  }
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    order_[static_cast<std::size_t>(next[levels_[i]]++)] = static_cast<int>(i);
  }
  return deepest_of(counts_);
}

int BodyLevels::kick_drift(const Substep& now, std::span<Vec4> positions, std::span<Vec4> velocities,
                           std::span<const Vec4> accelerations, float drag) {
  int first = -1;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    update_body(now, levels_[i], origins_[i], positions[i], velocities[i], accelerations[i], drag);
    if (first < 0 && !is_finite(positions[i], velocities[i])) first = static_cast<int>(i);
  }
  return first;
}

}  // namespace orrery
