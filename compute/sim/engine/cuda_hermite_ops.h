#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "compute/integrators/hermite_bodies_cuda.h"
#include "compute/sim/engine/cuda_batch.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// The operations of Hermite integrators on the mapped arrays, for one batch.
class CudaHermiteOps final : public HermiteOps {
 public:
  struct Parts {
    cuda::HermiteBodies& state;
    StateArrays arrays;
    int count;
    Vec4* d_accelerations;
    bool& accelerations_current;
    const StepPlan& plan;
    cudaStream_t stream;
    CudaBatch& batch;
    /// Runs an evaluation, and perhaps times it.
    std::function<void(const std::function<void()>& evaluation)> timed;
    std::function<cuda::NonFiniteCheck()> next_check;
  };

  explicit CudaHermiteOps(Parts parts) : parts_{std::move(parts)} {}

  int begin(float time_step, bool share_steps) override {
    cuda::HermiteBodies& state = parts_.state;
    if (!state.started()) state.start(parts_.arrays, parts_.stream);
    if (!state.pulls_current()) {
      state.predict_begin(parts_.stream);
      evaluate_active();
      state.take_first_pulls(parts_.plan.criterion(), parts_.plan.law.effective_drag(), parts_.stream);
    }
    return state.begin(time_step, share_steps, parts_.stream);
  }
  void predict(const Substep& now) override { parts_.state.predict(now, parts_.stream); }
  void evaluate(const Substep& /*now*/) override { evaluate_active(); }
  int correct(const Substep& now) override {
    return parts_.state.correct(now, parts_.plan.correction(), parts_.stream);
  }
  /// Where the kernel can, without waiting at each moment for the number of the next one and of its bodies.
  void take_moments(float time_step, int deepest) override {
    if (!jerks().counts_targets_on_device(parts_.count)) return HermiteOps::take_moments(time_step, deepest);
    cuda::HermiteBodies& state = parts_.state;
    state.begin_moments(parts_.stream);
    for (bool ended = false; !ended;) {
      const std::size_t timed_before = parts_.batch.timed_evaluations;
      for (int place = 0; place < cuda::HermiteBodies::moments_at_once; ++place) {
        state.predict_next(place, time_step, parts_.stream);
        JerkArgs args = jerk_args({state.d_listed(), parts_.count});
        args.d_target_count = state.d_listed_count(place);
        parts_.timed([&] { jerks().evaluate_jerks(args); });
        state.correct_next(place, time_step, parts_.plan.correction(), parts_.stream);
      }
      std::size_t taken = 0;
      for (const cuda::HermiteMoment& moment : state.take_moments(parts_.stream)) {
        ended = moment.number >= 1 << most_level;
        if (moment.active == 0) break;  // the step has ended before
        parts_.batch.count_evaluation(static_cast<double>(moment.active) * parts_.count);
        ++taken;
      }
      parts_.batch.keep_timed(timed_before + taken);
    }
  }
  void end() override {
    parts_.state.write(parts_.arrays, parts_.d_accelerations, parts_.next_check(), parts_.stream);
    parts_.accelerations_current = false;  // they are those at the predicted positions
    if (parts_.plan.integrator->block_steps) parts_.batch.levels = parts_.state.counts();
  }

 private:
  JerkFacet& jerks() const { return *parts_.plan.kernel->jerks(); }
  JerkArgs jerk_args(const Targets& targets) const {
    return {.bodies = parts_.state.d_predicted(),
            .count = parts_.count,
            .targets = targets,
            .law = parts_.plan.law,
            .pulls = parts_.state.d_pulls(),
            .stream = parts_.stream};
  }
  void evaluate_active() {
    const JerkArgs args = jerk_args({parts_.state.d_active(), parts_.state.active_count()});
    parts_.batch.count_evaluation(static_cast<double>(args.target_count()) * args.count);
    parts_.timed([&] { jerks().evaluate_jerks(args); });
  }

  Parts parts_;
};

}  // namespace orrery
