#include "app/lab/race/race_size.h"

#include <algorithm>
#include <cmath>

#include "compute/core/nominal_step.h"

namespace orrery {

bool race_pairs(const KernelInfo& kernel, const IntegratorInfo& integrator, bool all_give_jerks) {
  if (integrator.needs_jerks) return kernel.gives_jerks;
  return !kernel.gives_jerks || all_give_jerks;
}

double steps_to(double until, float time_step) {
  const double steps = until / nominal_step(time_step);
  return std::max(1.0, std::ceil(steps - rounding_of_steps(steps)));
}

RaceSize race_size(const KernelInfo& kernel, bool all_give_jerks, std::span<const std::string> integrators,
                   std::span<const float> time_steps, double until) {
  RaceSize size;
  for (const std::string& id : integrators) {
    const IntegratorInfo& integrator = find_integrator(id);
    if (!race_pairs(kernel, integrator, all_give_jerks)) continue;
    for (const float time_step : time_steps) {
      const double steps = steps_to(until, time_step);
      ++size.runs;
      size.steps += steps;
      size.evaluations += steps * integrator.evaluations_per_step;
    }
  }
  return size;
}

}  // namespace orrery
