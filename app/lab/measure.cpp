#include "app/lab/measure.h"

#include <algorithm>
#include <cmath>

namespace orrery {

ForceSample::ForceSample(std::span<const Vec4> bodies, const Law& law, int size)
    : targets_{sample_targets(static_cast<int>(bodies.size()), size)},
      reference_{reference_accelerations(bodies, targets_, law)},
      seconds_{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()} {}

int steps_for_a_repeat(double step_ms) {
  constexpr double repeat_ms = 20, most = 1e5;
  const double steps = std::ceil(repeat_ms / step_ms);
  return steps >= 1 ? static_cast<int>(std::min(steps, most)) : 1;
}

}  // namespace orrery
