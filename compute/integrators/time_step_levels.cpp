#include "compute/integrators/time_step_levels.h"

#include "compute/integrators/update.h"

namespace orrery {

int BodyLevels::assign(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations) {
  levels_.resize(accelerations.size());
  order_.resize(accelerations.size());
  origins_.resize(accelerations.size());
  find_levels(criterion, time_step, accelerations, every_level);
  find_levels(criterion, time_step, accelerations, kept_levels(counts_));
  LevelCounts next{};  // index in order_ of each level's next body
  for (int level = 0; level < most_level; ++level) {
    next[static_cast<std::size_t>(level)] = count_from(counts_, level + 1);
  }
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    order_[static_cast<std::size_t>(next[levels_[i]]++)] = static_cast<int>(i);
  }
  return deepest_of(counts_);
}

void BodyLevels::find_levels(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations,
                             LevelSet kept) {
  counts_ = {};
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    const int level = criterion.level(time_step, accelerations[i], kept);
    levels_[i] = static_cast<Level>(level);
    ++counts_[static_cast<std::size_t>(level)];
  }
}

int BodyLevels::kick_drift(const Substep& now, const StateArrays& arrays, float drag) {
  return visit_precision(arrays, [&]<class Real>(Real) {
    return update_bodies<Real>(arrays, static_cast<int>(levels_.size()), [&](BodyState& body, int i) {
      const auto at = static_cast<std::size_t>(i);
      const Vec3Of<Real> a = load_acceleration<Real>(arrays, i);
      const bool kicks = update_body<Real>(now, levels_[at], origins_[at], body, a, drag);
      return BodyChange{.moves = now.number < now.last(), .kicks = kicks};
    });
  });
}

}  // namespace orrery
