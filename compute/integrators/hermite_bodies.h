#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/integrators/body_state.h"
#include "compute/integrators/hermite_update.h"

namespace orrery {

/// The bodies of HermiteOps in host memory.
class HermiteBodies {
 public:
  /// Whether there are bodies, and whether their accelerations and jerks are those of the present kernel and law.
  bool started() const { return !bodies_.empty(); }
  bool pulls_current() const { return pulls_current_; }
  /// Begins anew from these bodies.
  void start(const StateArrays& arrays, int bodies);
  /// Between whole steps: what the next one begins from.
  HermiteState state() const { return {bodies_, pulls_current_}; }
  /// Goes on from `state`, which has bodies.
  void go_on(const HermiteState& state);
  void forget_pulls() { pulls_current_ = false; }

  /// What a kernel reads, and one entry per body for what it writes.
  const PreciseBody* predicted() const { return predicted_.data(); }
  Pull* pulls() { return pulls_.data(); }

  /// Before pulls() are evaluated for the begin of a step: the bodies are where they are.
  void predict_begin();
  /// Takes pulls() as those of all bodies at the begin of a step.
  void take_first_pulls(const StepCriterion& criterion, float drag);

  /// See HermiteOps for these.
  int begin(float time_step, bool share_steps);
  void predict(const Substep& now);
  /// The bodies whose steps end at `now`, in their order.
  std::span<const int> active(const Substep& now);
  int correct(const Substep& now, const Correction& how);
  /// Also writes the accelerations.
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
