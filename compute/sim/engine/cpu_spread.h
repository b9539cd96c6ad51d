#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "compute/core/body_source.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/engine/cpu_step_parts.h"

namespace orrery {

/// The bodies of a CPU engine while the ranks of its kernel hold them, and run its steps. The engine has none of its
/// own then, until fetch().
class CpuSpread {
 public:
  /// Whether ranks of this kernel can run the batch by themselves.
  static bool suits(const StepPlan& plan, const BatchRequest& batch, const CpuState& state) {
    const IntegratorInfo& integrator = *plan.integrator;
    const bool steps_alone = batch.steps > 0 && batch.probe.sample == 0 && !batch.accelerations;
    return steps_alone && !integrator.block_steps && !integrator.needs_jerks &&
           state.bodies.digits() == Digits::single && spread_of(*plan.kernel) != nullptr;
  }

  /// Whether the ranks alone have the bodies.
  bool is_away() const { return away_; }
  /// Of which there are so many, once step() was called.
  int count() const { return count_; }
  /// One whole step. The ranks get the bodies first, unless they hold them. Throws as SpreadFacet.
  SpreadStepped step(const StepPlan& plan, const MassRange& masses, CpuState& state,
                     const std::atomic<bool>& cancelled) {
    if (!holder_) {
      spread_of(*plan.kernel)->spread(state.bodies, masses);
      holder_ = spread_of(*plan.kernel);
      count_ = state.bodies.count();
    }
    state = {};
    away_ = true;
    return holder_->step(
        {.integrator_id = plan.integrator->id, .time_step = plan.time_step, .law = plan.law, .cancelled = cancelled});
  }
  /// Brings the bodies to the engine. The ranks go on to hold theirs.
  void fetch(CpuState& state) {
    if (!away_) return;
    CpuState fresh;
    fresh.bodies = holder_->gather();
    fresh.accelerations.resize(fresh.bodies.positions.size());
    std::swap(state, fresh);
    away_ = false;
  }
  /// The bodies where they are. Valid until they change.
  std::unique_ptr<BodySource> source(const CpuState& state) const {
    if (away_) return holder_->source();
    return std::make_unique<HeldBodies>(state.bodies);
  }
  /// Call before the engine's own bodies change, or the kernel or law does. Those that are away are lost.
  void forget() {
    holder_ = nullptr;
    away_ = false;
  }

 private:
  SpreadFacet* holder_ = nullptr;  // of the plan's kernel; null: the ranks do not hold these bodies
  bool away_ = false;
  int count_ = 0;
};

}  // namespace orrery
