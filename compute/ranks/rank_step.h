#pragma once

#include <optional>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/devices/learned_sizes.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_bodies.h"

namespace orrery {

/// One rank's part of a step: the operations of the integrator, which every rank carries out on its own bodies. Before
/// each evaluation, bodies go to the ranks in whose part of space they are, if the kernel has domains; otherwise all
/// ranks tell each other where theirs are.
class RankStep final : public StepOps {
 public:
  /// What lasts from step to step.
  struct Parts {
    SpreadState& bodies;
    const MassRange& masses;
    RankArrays& arrays;  ///< see RankBodies::step()
    std::optional<LearnedSizes>& sizes;
    double& ms;
  };
  RankStep(const Parts& parts, const StepOrder& order, ForceKernel& kernel, JointWork& work)
      : parts_{parts}, order_{order}, kernel_{kernel}, work_{work} {}

  void force(bool store, double kick_dt) override;
  void kick_drift(double kick_dt, double drift_dt) override;
  bool accelerations_current() const override { return parts_.bodies.accelerations_current; }
  int assign_levels(float time_step) override;
  void force_levels(const Substep& now) override;
  void kick_drift_levels(const Substep& now) override;
  HermiteOps& hermite() override;

  /// Call after the last operation.
  Stepped end();

 private:
  /// They return whether all ranks went on when the evaluation began.
  bool force_of_domains(bool store, double kick_dt);
  bool force_of_all(bool store, double kick_dt);

  bool divide(MessageWriter& division);
  void exchange_bodies();
  void evaluate(const MessageWriter& division, bool store, double kick_dt);
  void collect_positions();
  void evaluate_targets(bool store, double kick_dt);
  Epilogue epilogue_of(std::vector<Vec4>* accelerations, std::vector<Vec4>* velocities, double kick_dt) const;
  void note_not_finite();

  const Parts parts_;
  const StepOrder& order_;
  ForceKernel& kernel_;
  JointWork& work_;
  bool ended_ = false;  // no rank goes on
  std::vector<int> owners_;
  int count_ = 0;  // of all ranks
  Stepped result_;
};

}  // namespace orrery
