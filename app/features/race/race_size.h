// The work of a race, before it begins: the panel shows it.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "compute/core/text.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Whether a race pairs the two. Kernels that give jerks are for integrators that need them, unless there are no
/// others: `all_give_jerks`.
inline bool race_pairs(const KernelInfo& kernel, const IntegratorInfo& integrator, bool all_give_jerks) {
  if (integrator.needs_jerks) return kernel.gives_jerks;
  return !kernel.gives_jerks || all_give_jerks;
}

/// Factors of the scene's time step that a race takes if it names no time steps.
inline constexpr float usual_factors[] = {4, 2, 1, 0.5f, 0.25f};
/// Number of times that a run measures its energy, at equal distances in time; the last at the end.
inline constexpr int race_samples = 16;

/// The steps that reach `until` if each is of `time_step` or a little shorter; at least 1.
inline double steps_to(double until, float time_step) {
  const double steps = until / nominal_step(time_step);
  return std::max(1.0, std::ceil(steps - rounding_of_steps(steps)));
}

/// The work of one kernel's runs in a race.
struct RaceSize {
  int runs = 0;
  double steps = 0;
  double evaluations = 0;  ///< of the forces of all bodies; with block steps at least
};

/// The work of all pairs of `kernel` with these integrators (ids) at these time steps.
inline RaceSize race_size(const KernelInfo& kernel, bool all_give_jerks, std::span<const std::string> integrators,
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
