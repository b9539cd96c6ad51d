#pragma once

#include <atomic>

#include "compute/kernels/spread_facet.h"
#include "compute/sim/engine/cpu_step_parts.h"

namespace orrery {

/// The bodies of a CPU engine while the ranks of its kernel hold them, and run its steps. The engine's own bodies are
/// behind then, until fetch().
class CpuSpread {
 public:
  /// Whether ranks of this kernel can run the batch by themselves.
  static bool suits(const StepPlan& plan, const BatchRequest& batch, const CpuState& state) {
    const IntegratorInfo& integrator = *plan.integrator;
    const bool steps_alone = batch.steps > 0 && batch.probe.sample == 0 && !batch.accelerations;
    return steps_alone && !integrator.block_steps && !integrator.needs_jerks &&
           state.bodies.digits() == Digits::single && spread_of(*plan.kernel) != nullptr;
  }

  /// Whether the engine's own bodies are those of an earlier step.
  bool is_behind() const { return behind_; }
  /// One whole step. The ranks get the bodies first, unless they hold them. Throws as SpreadFacet.
  SpreadStepped step(const StepPlan& plan, const MassRange& masses, const CpuState& state,
                     const std::atomic<bool>& cancelled) {
    if (!holder_) {
      spread_of(*plan.kernel)->spread(state.bodies, masses);
      holder_ = spread_of(*plan.kernel);
    }
    const SpreadStepped stepped = holder_->step(
        {.integrator_id = plan.integrator->id, .time_step = plan.time_step, .law = plan.law, .cancelled = cancelled});
    behind_ |= stepped.complete;
    return stepped;
  }
  /// Brings the engine's own bodies up to date. The ranks go on to hold theirs.
  void fetch(CpuState& state) {
    if (!behind_) return;
    state.bodies = holder_->gather();
    state.accelerations_current = false;
    behind_ = false;
  }
  /// Call before the engine's own bodies change, or the kernel or law does.
  void forget() {
    holder_ = nullptr;
    behind_ = false;
  }

 private:
  SpreadFacet* holder_ = nullptr;  // of the plan's kernel; null: the ranks do not hold these bodies
  bool behind_ = false;
};

}  // namespace orrery
