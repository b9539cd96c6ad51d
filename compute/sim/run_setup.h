#pragma once

#include <string>

#include "compute/core/force_law.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/kernels/kernel.h"
#include "compute/scenes/scene.h"

namespace orrery {

/// How bodies move.
struct Physics {
  std::string integrator_id;
  Law law;
  float time_step = 0;                   ///< see SetTimeStep
  float eta = StepCriterion::usual_eta;  ///< see SetEta
  Digits digits = Digits::single;        ///< see SetDigits
  friend bool operator==(const Physics&, const Physics&) = default;
};
/// Everything that decides what a run computes, and how.
struct RunSetup {
  SceneRequest scene;  ///< as Status::scene: with the count filled in, also for a file
  Physics physics;
  std::string kernel_id;
  int kernel_revision = 0;    ///< see KernelInfo::revision; 0: the kernel that has the id now
  Settings::Values settings;  ///< a setting that is not named has its initial value
};

}  // namespace orrery
