#include "app/measure.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compute/core/error.h"

namespace orrery {

ForceSample::ForceSample(std::span<const Vec4> bodies, const Law& law)
    : targets_{sample_targets(static_cast<int>(bodies.size()), max_size)},
      reference_{reference_accelerations(bodies, targets_, law)} {}

void select(Simulation& simulation, const Variant& variant) {
  simulation.apply(SelectKernel{variant.kernel->id});
  // One at a time may pass through a combination that the device cannot run, depending on the order: try what is left
  // again for as long as that helps.
  std::optional<UsageError> refusal;
  do {
    refusal.reset();
    bool changed = false;
    const Settings before = simulation.status().settings;
    for (const auto& [name, value] : variant.settings.values()) {
      if (before.text(name) == value) continue;
      try {
        simulation.apply(SetTunable{name, value});
        changed = true;
      } catch (const UsageError& error) {
        refusal = error;
      }
    }
    if (refusal && !changed) throw *refusal;
  } while (refusal);
}

int steps_for_a_repeat(double step_ms) {
  constexpr double repeat_ms = 20, most = 1e5;
  const double steps = std::ceil(repeat_ms / step_ms);
  return steps >= 1 ? static_cast<int>(std::min(steps, most)) : 1;
}

}  // namespace orrery
