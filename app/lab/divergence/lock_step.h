#pragma once

#include <cstdint>

namespace orrery {

/// How two runs with their own time steps stay at equal times: `a` steps of the one take as long as `b` of the other,
/// and one of the two is 1.
struct LockStep {
  int a = 1, b = 1;
};

/// Throws UsageError unless one time step is a whole multiple of the other, up to rounding. Both are > 0.
LockStep lock_step_of(float time_step_a, float time_step_b);

}  // namespace orrery
