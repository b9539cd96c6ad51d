#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "compute/integrators/hermite_bodies.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// The operations of Hermite integrators on arrays in host memory, parts of the engine.
class CpuHermiteOps final : public HermiteOps {
 public:
  struct Parts {
    HermiteBodies& state;
    StateArrays arrays;
    std::vector<Vec4>& accelerations;
    bool& accelerations_current;
    const StepPlan& plan;
    const std::atomic<bool>& cancelled;
    /// Runs and times an evaluation of so many interactions.
    std::function<void(double interactions, const std::function<void()>& evaluation)> timed;
  };

  explicit CpuHermiteOps(Parts parts) : parts_{std::move(parts)} {}

  int begin(float time_step, bool share_steps) override {
    HermiteBodies& state = parts_.state;
    if (!state.started()) state.start(parts_.arrays, count());
    if (!state.pulls_current()) {
      state.predict_begin();
      evaluate_targets({});
      if (parts_.cancelled) return 0;
      state.take_first_pulls(parts_.plan.criterion(), parts_.plan.law.effective_drag());
    }
    return state.begin(time_step, share_steps);
  }
  void predict(const Substep& now) override { parts_.state.predict(now); }
  void evaluate(const Substep& now) override {
    const std::span<const int> active = parts_.state.active(now);
    const bool all = active.size() == parts_.accelerations.size();
    if (!active.empty()) evaluate_targets(all ? Targets{} : Targets{active.data(), static_cast<int>(active.size())});
  }
  /// After a cancellation nothing is corrected, and level 0 ends the step.
  int correct(const Substep& now) override {
    if (parts_.cancelled) return 0;
    return parts_.state.correct(now, {.eta = parts_.plan.eta, .drag = parts_.plan.law.effective_drag()});
  }
  void end() override {
    parts_.state.write(parts_.arrays, parts_.accelerations);
    parts_.accelerations_current = false;  // they are those at the predicted positions
  }

 private:
  int count() const { return static_cast<int>(parts_.accelerations.size()); }
  void evaluate_targets(const Targets& targets) {
    const JerkArgs args{.bodies = parts_.state.predicted(),
                        .count = count(),
                        .targets = targets,
                        .law = parts_.plan.law,
                        .pulls = parts_.state.pulls(),
                        .cancelled = &parts_.cancelled};
    parts_.timed(static_cast<double>(args.target_count()) * args.count,
                 [&] { parts_.plan.kernel->jerks()->evaluate_jerks(args); });
  }

  Parts parts_;
};

}  // namespace orrery
