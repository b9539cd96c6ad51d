#include "app/lab/force_sample.h"

namespace orrery {

ForceSample::ForceSample(std::span<const Vec4> bodies, const Law& law, int size)
    : targets_{sample_targets(static_cast<int>(bodies.size()), size)},
      reference_{reference_accelerations(bodies, targets_, law)},
      seconds_{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()} {}

}  // namespace orrery
