#pragma once

#include <span>
#include <string>

#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Whether a race pairs the two. Kernels that give jerks are for integrators that need them, unless there are no
/// others: `all_give_jerks`.
bool race_pairs(const KernelInfo& kernel, const IntegratorInfo& integrator, bool all_give_jerks);

/// Of the scene's time step, if none are named.
inline constexpr float usual_factors[] = {4, 2, 1, 0.5f, 0.25f};
/// Of the energy in a run, at equal distances in time; the last at the end.
inline constexpr int race_samples = 16;

/// The steps that reach `until` if each is of `time_step` or a little shorter; at least 1.
double steps_to(double until, float time_step);

/// The work of a race, of the runs of one kernel.
struct RaceSize {
  int runs = 0;
  double steps = 0;
  double evaluations = 0;  ///< of the forces of all bodies; with block steps at least
};

/// Of the pairs of `kernel` with these integrators, ids, at these time steps.
RaceSize race_size(const KernelInfo& kernel, bool all_give_jerks, std::span<const std::string> integrators,
                   std::span<const float> time_steps, double until);

}  // namespace orrery
