#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/subnormals.h"
#include "compute/integrators/update.h"
#include "compute/sim/engine/cpu_hermite_ops.h"
#include "compute/sim/engine/cpu_step_parts.h"

namespace orrery {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The integrator's operations on arrays in host memory, for one batch. The caller flushes subnormals.
class CpuStepOps final : public StepOps {
 public:
  /// What the force evaluations of a batch took.
  struct ForceWork {
    int evaluations = 0;
    double ms = 0;
    double interactions = 0;
  };

  /// The first evaluation is compared if the batch probes forces; all are stored if it reads accelerations.
  CpuStepOps(const CpuStepParts& parts, const BatchRequest& batch)
      : parts_{parts},
        targets_{targets_of(batch.probe, parts.state.bodies.count())},
        sample_{static_cast<std::size_t>(sample_size(batch.probe, parts.state.bodies.count()))},
        stores_{batch.accelerations},
        hermite_{parts, [this](double interactions, const auto& evaluation) { time(interactions, evaluation); }} {}
  CpuStepOps(const CpuStepOps&) = delete;
  CpuStepOps& operator=(const CpuStepOps&) = delete;

  void force(bool store, double kick_dt) override {
    const bool compares = this->compares();
    const bool kicks_in_double = kick_dt != 0 && parts_.compensated();
    store |= compares || stores_ || kicks_in_double;
    const bool kernel_kicks = kick_dt != 0 && !kicks_in_double;
    evaluate(parts_.force_args({.accelerations = store ? parts_.state.accelerations.data() : nullptr,
                                .velocities = kernel_kicks ? parts_.state.bodies.velocities.data() : nullptr,
                                .kick_dt = static_cast<float>(kick_dt),
                                .drag = parts_.plan.law.effective_drag(),
                                .accelerations_low = parts_.stored_low()},
                               &parts_.cancelled));
    if (kicks_in_double) update(kick_dt, 0);
    if (store) parts_.state.accelerations_current = true;
    if (compares) compare();
  }
  void kick_drift(double kick_dt, double drift_dt) override {
    update(kick_dt, drift_dt);
    parts_.state.accelerations_current = false;
  }
  bool accelerations_current() const override { return parts_.state.accelerations_current; }
  int assign_levels(float time_step) override {
    return parts_.levels.assign(parts_.plan.criterion(), time_step, parts_.state.accelerations);
  }
  void force_levels(const Substep& now) override {
    if (now.lowest_active() == 0) return force(/*store=*/true, 0);
    ForceArgs args = parts_.force_args(
        {.accelerations = parts_.state.accelerations.data(), .accelerations_low = parts_.stored_low()},
        &parts_.cancelled);
    const std::span<const int> active = parts_.levels.active(now);
    if (parts_.plan.takes_targets) args.targets = {active.data(), static_cast<int>(active.size())};
    evaluate(args);
  }
  void kick_drift_levels(const Substep& now) override {
    if (parts_.cancelled) return;
    const int body = parts_.levels.kick_drift(now, parts_.arrays(), parts_.plan.law.effective_drag());
    if (not_finite < 0) not_finite = body;
    if (now.number < now.last()) parts_.state.accelerations_current = false;
  }
  /// A comparison has an evaluation of its own: the integrator's are at predicted positions.
  HermiteOps& hermite() override {
    if (compares()) force(/*store=*/true, 0);
    return hermite_;
  }

  std::int64_t step = 0;  ///< that is being made
  ForceWork work;
  std::optional<ForceProbe> probe;
  int not_finite = -1;  ///< the first body that a pass found so

 private:
  bool compares() const { return !targets_.empty() && !probe; }
  void update(double kick_dt, double drift_dt) {
    if (parts_.cancelled) return;
    const int body = orrery::kick_drift(parts_.arrays(), parts_.state.bodies.count(), kick_dt,
                                        parts_.plan.law.effective_drag(), drift_dt);
    if (not_finite < 0) not_finite = body;
  }

  void evaluate(ForceArgs args) {
    std::uint64_t by_tree = 0;
    args.evaluated = &by_tree;
    const bool is_tree = parts_.plan.kernel->tree() != nullptr;
    time(is_tree ? 0 : interactions_of(args), [&] { parts_.plan.kernel->evaluate(args); });
    work.interactions += static_cast<double>(by_tree);
  }
  void time(double interactions, const std::function<void()>& evaluation) {
    const auto begin = Clock::now();
    evaluation();
    work.ms += ms_since(begin);
    work.interactions += interactions;
    ++work.evaluations;
  }

  void compare() {
    const auto begin = Clock::now();
    const WithSubnormals for_sums_in_double{Subnormals::kept};
    const Bodies& all = parts_.state.bodies;
    const std::vector<Vec3d> reference =
        reference_accelerations(all.positions, targets_, parts_.plan.law, &parts_.cancelled, all.positions_low);
    const std::vector<Vec4> accelerations = entries(parts_.state.accelerations, targets_);
    BodyErrors bodies{targets_, target_errors(accelerations, reference), accelerations};
    probe = ForceProbe{.step = step,
                       .sample = static_cast<int>(sample_),
                       .error = target_error(std::span{accelerations}.first(sample_),
                                             std::span{targets_}.first(sample_), std::span{reference}.first(sample_)),
                       .ms = ms_since(begin),
                       .bodies = std::make_shared<const BodyErrors>(std::move(bodies))};
  }

  const CpuStepParts parts_;
  std::vector<int> targets_;
  std::size_t sample_;  // the first targets: those whose errors are summed up
  bool stores_;
  CpuHermiteOps hermite_;
};

}  // namespace orrery
