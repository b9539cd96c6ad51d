// The Hermite scheme: functions for one body on host and device, and the bodies in host memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update.h"

namespace orrery {

/// Returns a + s b.
ORRERY_HD inline Vec3d plus(const Vec3d& a, double s, const Vec3d& b) {
  return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

ORRERY_HD inline double length_of(const Vec3d& v) {
  return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

ORRERY_HD inline PreciseBody precise(const BodyState& body) {
  return {joined<double>(body.position, body.position_low), body.position.w,
          joined<double>(body.velocity, body.velocity_low)};
}

/// Writes position and velocity, rounded to floats with low words.
ORRERY_HD inline void split(const PreciseBody& body, BodyState& state) {
  split(body.position, state.position, state.position_low);
  split(body.velocity, state.velocity, state.velocity_low);
}

/// Rounds an acceleration to floats; w is unused and 0.
ORRERY_HD inline Vec4 stored(const Vec3d& acceleration) {
  const Vec3 a = rounded(acceleration);
  return {a.x, a.y, a.z, 0};
}

/// Returns the body after `dt` by its acceleration and jerk: x + v dt + a dt^2/2 + j dt^3/6, v + a dt + j dt^2/2.
ORRERY_HD inline PreciseBody predicted(const HermiteBody& at, double dt) {
  const auto& [a, j] = at.pull;
  const Vec3d kicked = plus(at.body.velocity, dt / 2, plus(a, dt / 3, j));
  return {plus(at.body.position, dt, kicked), at.body.mass, plus(at.body.velocity, dt, plus(a, dt / 2, j))};
}

/// Adds the drag D of attract-repel at the body's velocity: a - D v / m, and its time derivative. A body without mass
/// has no drag.
ORRERY_HD inline void add_drag(Pull& pull, const PreciseBody& body, double drag) {
  if (!(drag > 0 && body.mass > 0)) return;
  pull.acceleration = plus(pull.acceleration, -drag / body.mass, body.velocity);
  pull.jerk = plus(pull.jerk, -drag / body.mass, pull.acceleration);
}

/// Returns the longest step for a body by Aarseth's criterion, sqrt(eta (|a| |a''| + |a'|^2) / (|a'| |a'''| +
/// |a''|^2)). The body's last step, of length `dt`, led from `begin` to `end`. The derivatives are those of the Hermite
/// polynomial at the end of that step (Makino & Aarseth 1992, eqs. 5 to 7). NaN if nothing pulls the body.
ORRERY_HD inline double longest_step_after(const Pull& begin, const Pull& end, double dt, double eta) {
  const Vec3d change = plus(begin.acceleration, -1, end.acceleration);  // a0 - a1
  const Vec3d second_dt2 = plus(plus({}, -6, change), -dt, plus(plus({}, 4, begin.jerk), 2, end.jerk));
  const Vec3d third_dt3 = plus(plus({}, 12, change), 6 * dt, plus(begin.jerk, 1, end.jerk));
  const double a = length_of(end.acceleration), first = length_of(end.jerk) * dt;
  const double second = length_of(plus(second_dt2, 1, third_dt3)), third = length_of(third_dt3);
  return dt * std::sqrt(eta * (a * second + first * first) / (first * third + second * second));
}

/// Returns the longest step for a body that has made no step, so that higher derivatives are unknown: the shorter of
/// eta |a|/|a'| and the step by the criterion of leapfrog-blocks.
ORRERY_HD inline double first_longest_step(const Pull& pull, const StepCriterion& criterion) {
  const double a = length_of(pull.acceleration);
  const double by_jerk = double{criterion.eta} * a / length_of(pull.jerk), usual = criterion.longest_step(a);
  return by_jerk < usual ? by_jerk : usual;
}

/// Corrects a body whose step of length `dt` ends with the pull `end`: v1 = v0 + (a0 + a1) dt/2 + (j0 - j1) dt^2/12,
/// and the position the same way with v and a (Hut, Makino & McMillan 1995, ApJ 443, L93, eq. 5). This is Makino &
/// Aarseth's corrector without its fifth-order term in the position, so that iterated steps are reversible.
ORRERY_HD inline void correct(HermiteBody& at, const Pull& end, double dt) {
  const auto& [a0, j0] = at.pull;
  PreciseBody& body = at.body;
  const Vec3d v0 = body.velocity;
  const Vec3d mean_a = plus(plus(a0, 1, end.acceleration), dt / 6, plus(j0, -1, end.jerk));
  body.velocity = plus(v0, dt / 2, mean_a);
  const Vec3d mean_v = plus(plus(v0, 1, body.velocity), dt / 6, plus(a0, -1, end.acceleration));
  body.position = plus(body.position, dt / 2, mean_v);
  at.pull = end;
}

/// Returns the time from the beginning of the current own step of a body of `level` to `now`, when it may end.
ORRERY_HD inline double own_time(const Substep& now, int level) {
  const int moments = (now.number - 1) % (1 << (now.deepest - level)) + 1;
  return double{now.time_step} / now.last() * moments;
}

/// Returns the next level of a body whose step ends at `now`: the first whose step is short enough. It is at most one
/// level shallower than before, and only where that longer step may begin.
ORRERY_HD inline int next_level(const Substep& now, int level, double longest_step) {
  const double own = double{now.time_step} / (1 << level);
  if (!(own > longest_step)) {
    const bool may_begin = level > 0 && now.number % (2 << (now.deepest - level)) == 0;
    return may_begin && !(2 * own > longest_step) ? level - 1 : level;
  }
  return StepCriterion::level_of(own, longest_step, level);
}

/// Parameters of HermiteOps::correct().
struct Correction {
  float eta = 0;   ///< eta of Aarseth's criterion
  float drag = 0;  ///< D of attract-repel, otherwise 0
};

/// Does HermiteOps::correct() for one active body. `pull`: result of the kernel at `predicted`. Returns the body's next
/// level.
ORRERY_HD inline int correct_body(HermiteBody& body, const PreciseBody& predicted, Pull pull, const Substep& now,
                                  int level, const Correction& how) {
  const double dt = double{now.time_step} / (1 << level);
  add_drag(pull, predicted, how.drag);
  body.longest_step = longest_step_after(body.pull, pull, dt, how.eta);
  correct(body, pull, dt);
  return next_level(now, level, body.longest_step);
}

/// The bodies of HermiteOps in host memory.
class HermiteBodies {
 public:
  /// Returns whether there are bodies; pulls_current(): whether their pulls are those of the current kernel and law.
  bool started() const { return !bodies_.empty(); }
  bool pulls_current() const { return pulls_current_; }
  /// Converts these bodies and starts from them.
  void start(const StateArrays& arrays, int bodies);
  /// Returns the state from which the next whole step begins. Call between whole steps.
  HermiteState state() const { return {bodies_, pulls_current_}; }
  /// Continues from `state`, which must have bodies.
  void go_on(const HermiteState& state);
  void forget_pulls() { pulls_current_ = false; }

  /// Returns the bodies that a kernel reads; pulls() returns one entry per body for the pulls that it writes.
  const PreciseBody* predicted() const { return predicted_.data(); }
  Pull* pulls() { return pulls_.data(); }

  /// Sets predicted() to the current bodies. Call before pulls() are evaluated for the beginning of a step.
  void predict_begin();
  /// Takes pulls() as the pulls on all bodies at the beginning of a step.
  void take_first_pulls(const StepCriterion& criterion, float drag);

  /// These functions work as in HermiteOps.
  int begin(float time_step, bool share_steps);
  void predict(const Substep& now);
  /// Returns the bodies whose steps end at `now`, ascending.
  std::span<const int> active(const Substep& now);
  int correct(const Substep& now, const Correction& how);
  /// Writes the rounded bodies and their accelerations.
  void write(const StateArrays& arrays, std::span<Vec4> accelerations) const;

  const LevelCounts& counts() const { return counts_; }

 private:
  void resize(std::size_t count);

  std::vector<HermiteBody> bodies_;
  std::vector<PreciseBody> predicted_;
  std::vector<Pull> pulls_;
  std::vector<Level> levels_;
  LevelCounts counts_{};
  std::vector<int> active_;
  bool pulls_current_ = false;
  bool share_steps_ = true;
};

}  // namespace orrery
