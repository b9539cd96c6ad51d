#pragma once

#include <functional>
#include <span>
#include <utility>

#include "compute/sim/engine/cpu_step_parts.h"

namespace orrery {

/// The operations of Hermite integrators on arrays in host memory, parts of the engine.
class CpuHermiteOps final : public HermiteOps {
 public:
  /// `timed` runs and times an evaluation of so many interactions.
  CpuHermiteOps(const CpuStepParts& parts,
                std::function<void(double interactions, const std::function<void()>& evaluation)> timed)
      : parts_{parts}, timed_{std::move(timed)} {}

  int begin(float time_step, bool share_steps) override {
    HermiteBodies& bodies = hermite();
    if (!bodies.started()) bodies.start(parts_.arrays(), parts_.state.bodies.count());
    if (!bodies.pulls_current()) {
      bodies.predict_begin();
      evaluate_targets({});
      if (parts_.cancelled) return 0;
      bodies.take_first_pulls(parts_.plan.criterion(), parts_.plan.law.effective_drag());
    }
    return bodies.begin(time_step, share_steps);
  }
  void predict(const Substep& now) override { hermite().predict(now); }
  void evaluate(const Substep& now) override {
    const std::span<const int> active = hermite().active(now);
    const bool all = active.size() == parts_.state.bodies.positions.size();
    if (!active.empty()) evaluate_targets(all ? Targets{} : Targets{active.data(), static_cast<int>(active.size())});
  }
  /// After a cancellation nothing is corrected, and level 0 ends the step.
  int correct(const Substep& now) override {
    return parts_.cancelled ? 0 : hermite().correct(now, parts_.plan.correction());
  }
  void end() override {
    hermite().write(parts_.arrays(), parts_.state.accelerations);
    parts_.state.accelerations_current = false;  // they are those at the predicted positions
  }

 private:
  HermiteBodies& hermite() { return parts_.state.hermite; }
  void evaluate_targets(const Targets& targets) {
    const JerkArgs args{.bodies = hermite().predicted(),
                        .count = parts_.state.bodies.count(),
                        .targets = targets,
                        .law = parts_.plan.law,
                        .pulls = hermite().pulls(),
                        .cancelled = &parts_.cancelled};
    timed_(static_cast<double>(args.target_count()) * args.count,
           [&] { parts_.plan.kernel->jerks()->evaluate_jerks(args); });
  }

  const CpuStepParts parts_;
  std::function<void(double interactions, const std::function<void()>& evaluation)> timed_;
};

}  // namespace orrery
