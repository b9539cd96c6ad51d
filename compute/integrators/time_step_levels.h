// Individual time steps of bodies: levels, the criterion, substeps, and the levels of bodies in host memory.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/integrators/update.h"
#include "compute/kernels/epilogue.h"

namespace orrery {

/// Levels of time steps: a body of level l has steps of dt / 2^l.
inline constexpr int level_count = 16;
inline constexpr int most_level = level_count - 1;

/// Deepest level of leapfrog-blocks. A body keeps its level for a whole dt. A deeper level would take thousands of
/// substeps for an encounter that ends long before dt does.
inline constexpr int most_leapfrog_level = 8;

using Level = std::uint8_t;

/// Number of bodies at each level.
using LevelCounts = std::array<int, level_count>;

/// Returns the number of bodies at `level` and deeper.
inline int count_from(const LevelCounts& bodies, int level) {
  return std::accumulate(bodies.begin() + level, bodies.end(), 0);
}

/// Returns the deepest level that has bodies.
inline int deepest_of(const LevelCounts& bodies) {
  int level = most_level;
  while (level > 0 && bodies[static_cast<std::size_t>(level)] == 0) --level;
  return level;
}

/// Set of levels: bit l is level l.
using LevelSet = std::uint32_t;

inline constexpr LevelSet every_level = (LevelSet{1} << level_count) - 1;

/// Returns the levels that leapfrog-blocks uses. `bodies`: number of bodies that would have each level. A level with
/// fewer than half of the bodies at it and deeper is merged into the next deeper level. Bodies of different levels pull
/// each other at different times. For a few bodies, this costs more accuracy than their longer steps are worth. With
/// 0.75 instead of 0.5, a smooth collapse is twice as accurate, but clusters with close pairs are less accurate at
/// equal work.
inline LevelSet kept_levels(const LevelCounts& bodies) {
  constexpr double least_share = 0.5;
  LevelSet kept = 0;
  int here = 0;
  for (int level = 0; level < level_count; ++level) {
    here += bodies[static_cast<std::size_t>(level)];
    const int below = count_from(bodies, level) - bodies[static_cast<std::size_t>(level)];
    if (here < least_share * (here + below)) continue;
    kept |= LevelSet{1} << level;
    here = 0;
  }
  return kept;
}

/// Returns the first level >= `level` that is in `kept`, or most_leapfrog_level.
ORRERY_HD inline int joined_level(int level, LevelSet kept) {
  while (level < most_leapfrog_level && (kept >> level & 1u) == 0) ++level;
  return level;
}

/// Returns the mean of the masses, which are in w; 0 if there are no bodies.
inline float mean_mass(std::span<const Vec4> positions) {
  double sum = 0;
  for (const Vec4& body : positions) sum += body.w;
  return positions.empty() ? 0 : static_cast<float>(sum / static_cast<double>(positions.size()));
}

/// Criterion for the longest time step of a body with acceleration a and softening length epsilon: sqrt(2 eta epsilon /
/// |a|) (Springel 2005, MNRAS 364, 1105, eq. 34). If the softening length is very small, epsilon is the distance at
/// which one body of mean mass would cause this acceleration. The step is then a fixed part of the period of a close
/// pair.
struct StepCriterion {
  static constexpr float usual_eta = 0.025f;

  float softening = 0;
  float mean_mass = 0;
  float eta = usual_eta;

  /// Returns the longest step; infinity if the acceleration is 0.
  ORRERY_HD double longest_step(double acceleration) const {
    const double distance = std::sqrt(double{mean_mass} / acceleration);
    const double length = distance > double{softening} ? distance : double{softening};
    return std::sqrt(2 * double{eta} * length / acceleration);
  }
  /// Returns the level for leapfrog-blocks: the first level in `kept` whose step is short enough for this acceleration,
  /// or most_leapfrog_level if there is none. If the acceleration is NaN, returns the first level in `kept`.
  ORRERY_HD int level(float time_step, const Vec4& acceleration, LevelSet kept = every_level) const {
    const double x = acceleration.x, y = acceleration.y, z = acceleration.z;
    const double longest = longest_step(std::sqrt(x * x + y * y + z * z));
    return joined_level(level_of(time_step, longest, 0, most_leapfrog_level), kept);
  }
  /// Returns the first level >= `level` whose step is at most `longest`, or `deepest` if there is none. Returns `level`
  /// if `longest` is NaN. `step`: the step of `level`.
  ORRERY_HD static int level_of(double step, double longest, int level = 0, int deepest = most_level) {
    for (; step > longest && level < deepest; step /= 2) ++level;
    return level;
  }
  friend bool operator==(const StepCriterion&, const StepCriterion&) = default;
};

/// A moment in a whole step at which own steps of bodies begin and end. Steps of the deepest level do so at every
/// moment.
struct Substep {
  float time_step = 0;  ///< length of the whole step
  int deepest = 0;      ///< the deepest level that has bodies
  int number = 0;       ///< from 0, where all steps begin, to last(), where all end

  ORRERY_HD int last() const { return 1 << deepest; }
  /// Returns the lowest level whose own steps end or begin now. Bodies of this level and all deeper ones are active.
  ORRERY_HD int lowest_active() const {
    int level = deepest;
    for (int rest = number | last(); rest % 2 == 0; rest /= 2) --level;
    return level;
  }
  /// Returns the duration of an active body's kick: the second half of the step that ends, plus the first half of the
  /// next step.
  ORRERY_HD float kick_dt(int level) const {
    const float own = time_step / static_cast<float>(1 << level);
    return number == 0 || number == last() ? own / 2 : own;
  }
  /// Returns the time from the beginning of the body's current step to the next moment.
  template <class Real = float>
  ORRERY_HD Real drift_dt(int level) const {
    const int moments = number % (1 << (deepest - level)) + 1;
    return static_cast<Real>(time_step) / static_cast<Real>(last()) * static_cast<Real>(moments);
  }
};

/// A body's position at the beginning of its current step.
struct StepOrigin {
  Vec4 position, position_low;
};

/// Does StepOps::kick_drift_levels() for one body, on host and device. The body drifts from `origin`, because the
/// rounding errors of many short drifts would be alike and add up. Returns whether it was kicked; otherwise `a` is not
/// read.
template <class Real>
ORRERY_HD inline bool update_body(const Substep& now, int level, StepOrigin& origin, BodyState& body,
                                  const Vec3Of<Real>& a, float drag) {
  const bool active = level >= now.lowest_active();
  Vec3Of<Real> v = joined<Real>(body.velocity, body.velocity_low);
  if (active) {
    v = Epilogue::kicked(v, a, body.position.w, drag, static_cast<Real>(now.kick_dt(level)));
    split(v, body.velocity, body.velocity_low);
    origin = {body.position, body.position_low};
  }
  if (now.number < now.last()) {
    Vec3Of<Real> x = joined<Real>(origin.position, origin.position_low);
    const Real drift_dt = now.drift_dt<Real>(level);
    x.x += v.x * drift_dt;
    x.y += v.y * drift_dt;
    x.z += v.z * drift_dt;
    split(x, body.position, body.position_low);
  }
  return active;
}

/// Levels of bodies in host memory, for StepOps::assign_levels() and the operations that use the levels.
class BodyLevels {
 public:
  /// Gives each body its level, see StepCriterion and kept_levels(). Returns the deepest level that has bodies.
  int assign(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations);
  const LevelCounts& counts() const { return counts_; }
  /// Returns the active bodies at `now`, those of the deepest level first.
  std::span<const int> active(const Substep& now) const {
    return std::span{order_}.first(static_cast<std::size_t>(count_from(counts_, now.lowest_active())));
  }
  /// Kicks and drifts bodies, see StepOps::kick_drift_levels(). Returns the first body that is not finite, or -1.
  int kick_drift(const Substep& now, const StateArrays& arrays, float drag);

 private:
  void find_levels(const StepCriterion& criterion, float time_step, std::span<const Vec4> accelerations, LevelSet kept);

  std::vector<Level> levels_;
  LevelCounts counts_{};
  std::vector<int> order_;           // indices, the deepest level first
  std::vector<StepOrigin> origins_;  // positions at which steps begin, see update_body()
};

}  // namespace orrery
