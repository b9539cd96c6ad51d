#pragma once

#include <atomic>
#include <vector>

#include "compute/integrators/hermite.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// What a step changes: a step that is cancelled or fails leaves it as it was.
struct CpuState {
  Bodies bodies;
  std::vector<Vec4> accelerations;      ///< one entry per body
  std::vector<Vec4> accelerations_low;  ///< likewise, or empty under Digits::single
  bool accelerations_current = false;   ///< see StepOps::accelerations_current()
  HermiteBodies hermite;                ///< none but with an integrator that needs jerks
};

/// The parts of the CPU engine that a step works with.
struct CpuStepParts {
  CpuState& state;
  const MassRange& masses;
  BodyLevels& levels;
  const StepPlan& plan;
  const std::atomic<bool>& cancelled;

  /// `stop`: see ForceArgs::cancelled.
  ForceArgs force_args(const Epilogue& epilogue, const std::atomic<bool>* stop = nullptr) const {
    return {.bodies = state.bodies.positions.data(),
            .bodies_low = compensated() ? state.bodies.positions_low.data() : nullptr,
            .count = state.bodies.count(),
            .masses = masses,
            .law = plan.law,
            .epilogue = epilogue,
            .cancelled = stop};
  }
  /// Where the kernel stores low words of accelerations; null: it has none.
  Vec4* stored_low() const { return plan.reads_low_words && compensated() ? state.accelerations_low.data() : nullptr; }
  StateArrays arrays() const {
    return {.positions = state.bodies.positions.data(),
            .velocities = state.bodies.velocities.data(),
            .accelerations = state.accelerations.data(),
            .positions_low = compensated() ? state.bodies.positions_low.data() : nullptr,
            .velocities_low = compensated() ? state.bodies.velocities_low.data() : nullptr,
            .accelerations_low = stored_low()};
  }
  bool compensated() const { return state.bodies.digits() == Digits::compensated; }
};

}  // namespace orrery
