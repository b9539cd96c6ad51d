#include "app/lab/divergence/lock_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"

namespace orrery {

LockStep lock_step_of(float time_step_a, float time_step_b) {
  constexpr double rounding = 1e-6, most = 1000;
  const double ratio = double{std::max(time_step_a, time_step_b)} / double{std::min(time_step_a, time_step_b)};
  const double whole = std::round(ratio);
  if (!(std::abs(ratio - whole) <= rounding * whole) || whole > most) {
    throw UsageError(
        fmt::format("the time steps {} and {} do not stay together; one must be a whole multiple of the other, up to "
                    "{:g}",
                    time_step_a, time_step_b, most));
  }
  const int steps = static_cast<int>(whole);
  return time_step_a > time_step_b ? LockStep{1, steps} : LockStep{steps, 1};
}

}  // namespace orrery
