#pragma once

#include <functional>
#include <utility>

#include "compute/diagnostics/reference_cuda.h"
#include "compute/integrators/body_levels_cuda.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/engine/cuda_batch.h"
#include "compute/sim/engine/cuda_hermite_ops.h"
#include "compute/sim/engine/cuda_residents.h"
#include "compute/sim/engine/engine.h"
#include "compute/sim/engine/non_finite_watch.h"

namespace orrery {

/// What the steps of a CUDA engine work on: parts of the engine.
struct CudaStepParts {
  const cuda::Device& device;
  cudaStream_t stream;
  const StepPlan& plan;
  int count;
  MassRange masses;
  Vec4* d_accelerations;
  Vec4* d_accelerations_low;  // null: the kernel gives none, or the bodies have no low words
  bool& accelerations_current;
  cuda::BodyLevels& levels;
  cuda::HermiteBodies& hermite;
  cuda::ForceComparison& comparison;
  const NonFiniteWatch& watch;
  CudaResidents* residents = nullptr;  // null: the engine's own bodies make the steps

  ForceArgs force_args(const DeviceBodies& bodies, const Epilogue& epilogue) const {
    return {.bodies = bodies.positions,
            .bodies_low = bodies.positions_low,
            .count = count,
            .masses = masses,
            .law = plan.law,
            .epilogue = epilogue,
            .stream = stream};
  }
  StateArrays arrays(const DeviceBodies& bodies) const {
    return {.positions = bodies.positions,
            .velocities = bodies.velocities,
            .accelerations = d_accelerations,
            .positions_low = bodies.positions_low,
            .velocities_low = bodies.velocities_low,
            .accelerations_low = d_accelerations_low};
  }
};

/// The integrator's operations on the mapped arrays, for one batch.
class CudaStepOps final : public StepOps {
 public:
  CudaStepOps(const CudaStepParts& parts, const DeviceBodies& bodies, CudaBatch& batch)
      : parts_{parts},
        bodies_{bodies},
        batch_{batch},
        hermite_{{.state = parts.hermite,
                  .arrays = parts.arrays(bodies),
                  .count = parts.count,
                  .d_accelerations = parts.d_accelerations,
                  .accelerations_current = parts.accelerations_current,
                  .plan = parts.plan,
                  .stream = parts.stream,
                  .batch = batch,
                  .timed = [this](const auto& evaluation) { time(evaluation); },
                  .next_check = [this] { return next_check(); }}} {}
  CudaStepOps(const CudaStepOps&) = delete;
  CudaStepOps& operator=(const CudaStepOps&) = delete;
  /// `timed`: its evaluations are.
  void begin_step(std::int64_t step, bool timed) {
    step_ = step;
    timed_ = timed;
    changed_ = false;
    drifts_ = 0;
    batch_.evaluations_before.push_back(batch_.evaluations);
  }

  /// After the last step of a batch.
  void end_steps() { make_owed_kick(); }

  /// Kernels kick floats only, and of one device. Other kicks are left to the pass that comes next, which loads and
  /// stores the velocities anyway.
  void force(bool store, double kick_dt) override {
    make_owed_kick();  // by the accelerations that this evaluation replaces
    const bool compares = this->compares();
    if (bodies_.velocities_low || parts_.residents) owed_kick_dt_ = kick_dt;
    const bool owes = owed_kick_dt_ != 0;
    store |= compares || batch_.request.accelerations || owes;
    const bool kernel_kicks = kick_dt != 0 && !owes;
    evaluate(parts_.force_args(bodies_, {.accelerations = store ? parts_.d_accelerations : nullptr,
                                         .velocities = kernel_kicks ? bodies_.velocities : nullptr,
                                         .kick_dt = static_cast<float>(kick_dt),
                                         .drag = parts_.plan.law.effective_drag(),
                                         .accelerations_low = parts_.d_accelerations_low}));
    if (store) parts_.accelerations_current = true;
    changed_ |= kick_dt != 0;
    if (compares) {
      batch_.probed_step = step_;
      if (parts_.residents) parts_.residents->collect_forces(bodies_.positions, parts_.d_accelerations);
      parts_.comparison.enqueue(bodies_.positions, bodies_.positions_low, parts_.count, batch_.request.probe,
                                parts_.plan.law, parts_.d_accelerations, parts_.stream);
    }
  }
  void kick_drift(double kick_dt, double drift_dt) override {
    update(kick_dt, drift_dt);
    parts_.accelerations_current = false;
  }
  bool accelerations_current() const override { return parts_.accelerations_current; }

  int assign_levels(float time_step) override {
    const int deepest = parts_.levels.assign(parts_.plan.criterion(), time_step, parts_.d_accelerations, parts_.stream);
    batch_.levels = parts_.levels.counts();
    return deepest;
  }
  void force_levels(const Substep& now) override {
    if (now.lowest_active() == 0) return force(/*store=*/true, 0);
    ForceArgs args = parts_.force_args(
        bodies_, {.accelerations = parts_.d_accelerations, .accelerations_low = parts_.d_accelerations_low});
    if (parts_.plan.takes_targets) args.targets = {parts_.levels.d_order(), parts_.levels.active_count(now)};
    evaluate(args);
  }
  void kick_drift_levels(const Substep& now) override {
    parts_.levels.kick_drift(now, parts_.arrays(bodies_), parts_.plan.law.effective_drag(), next_check(),
                             parts_.stream);
    if (now.number < now.last()) parts_.accelerations_current = false;
  }
  /// A comparison has an evaluation of its own: the integrator's are at predicted positions.
  HermiteOps& hermite() override {
    if (compares()) force(/*store=*/true, 0);
    return hermite_;
  }

 private:
  bool compares() const { return batch_.request.probe.sample > 0 && batch_.probed_step < 0; }
  void update(double kick_dt, double drift_dt) {
    const cuda::KickDrift pass{.owed_kick_dt = std::exchange(owed_kick_dt_, 0),
                               .kick_dt = kick_dt,
                               .drift_dt = drift_dt,
                               .drag = parts_.plan.law.effective_drag()};
    if (parts_.residents) return parts_.residents->kick_drift(pass, next_check());
    cuda::kick_drift(parts_.device, parts_.arrays(bodies_), parts_.count, pass, next_check(), parts_.stream);
  }
  void make_owed_kick() {
    if (owed_kick_dt_ != 0) update(0, 0);
  }
  void evaluate(ForceArgs args) {
    if (batch_.is_tree) args.evaluated = batch_.evaluated.data();
    args.times_phases = timed_;
    batch_.count_evaluation(interactions_of(args));
    time([&] {
      if (parts_.residents) {
        parts_.residents->evaluate(args);
      } else {
        parts_.plan.kernel->evaluate(args);
      }
    });
  }
  void time(const std::function<void()>& evaluation) {
    const auto* pass = timed_ && batch_.timed_evaluations < max_timed_evaluations ? &next_pass() : nullptr;
    if (pass) pass->first.record(parts_.stream);
    evaluation();
    if (pass) pass->second.record(parts_.stream);
  }
  const std::pair<cuda::Event, cuda::Event>& next_pass() {
    if (batch_.timed_evaluations == batch_.force.size()) {
      batch_.force.emplace_back(cuda::Event{parts_.device}, cuda::Event{parts_.device});
    }
    return batch_.force[batch_.timed_evaluations++];
  }
  cuda::NonFiniteCheck next_check() { return parts_.watch.check_in(step_, std::exchange(changed_, true), drifts_++); }

  CudaStepParts parts_;
  DeviceBodies bodies_;
  CudaBatch& batch_;
  std::int64_t step_ = 0;  // that is being made
  bool timed_ = false;
  bool changed_ = false;  // in this step, the bodies have been
  int drifts_ = 0;        // in this step
  double owed_kick_dt_ = 0;
  CudaHermiteOps hermite_;
};

}  // namespace orrery
