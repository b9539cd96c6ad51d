#pragma once

#include <algorithm>

#include "compute/core/law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Returns whether the evaluation of a CPU kernel was cancelled. `flag` may be null.
inline bool cancelled(const std::atomic<bool>* flag) {
  return flag && flag->load(std::memory_order_relaxed);
}
inline bool cancelled(const ForceArgs& args) {
  return cancelled(args.cancelled);
}

/// Number of sources between two checks for cancellation, about 40 us for scalar code on one core. Each such block has
/// a separate sum, which also rounds less than one sum over millions of bodies.
inline constexpr int scalar_block = 4096;

/// Evaluates targets [first, last) and calls the epilogue for each, by the plain double loop over an array of
/// structures, one pair at a time (docs/literature.md, rows 7 and 12). Returns early if cancelled.
inline void evaluate_scalar_rows(const ForceArgs& args, int first, int last) noexcept {
  visit_pair_law<float>(args.law, [&](const auto& law) {
    for (int place = first; place < last; ++place) {
      const int i = args.targets.body(place);
      const Vec4 me = args.bodies[i];
      Vec3 acceleration;
      for (int block = 0; block < args.count; block += scalar_block) {
        if (cancelled(args)) return;
        const int end = block + std::min(scalar_block, args.count - block);
        Vec3 sum;
        for (int j = block; j < end; ++j) add_pull(sum, law, me.x, me.y, me.z, args.bodies[j]);
        acceleration.x += sum.x;
        acceleration.y += sum.y;
        acceleration.z += sum.z;
      }
      args.epilogue.finish(i, me.w, acceleration);
    }
  });
}

}  // namespace orrery
