#pragma once

#include <string>

#include "compute/sim/command.h"

namespace orrery {

/// Everything about a run except the state of its bodies. Only batches of the same trial are compared.
struct Trial {
  std::string kernel_id{}, settings{}, integrator_id{};
  int kernel_revision = 0;  ///< a kernel that was replaced is another one
  Law law{};
  float time_step = 0;
  float eta = StepCriterion::usual_eta;
  SceneRequest scene{};
  int count = 0;
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// The trial that steps of `status` belong to.
inline Trial trial_of(const Status& status) {
  return {.kernel_id = status.kernel_id,
          .settings = status.settings.to_string(),
          .integrator_id = status.integrator_id,
          .kernel_revision = status.kernel ? status.kernel->revision : 0,
          .law = status.law,
          .time_step = status.time_step,
          .eta = status.eta,
          .scene = status.scene,
          .count = status.count};
}

/// The run to return to for this trial, with the kernel that has its id now.
inline RunSetup run_of(const Trial& trial) {
  return {.scene = trial.scene,
          .physics = {.integrator_id = trial.integrator_id,
                      .law = trial.law,
                      .time_step = trial.time_step,
                      .eta = trial.eta},
          .kernel_id = trial.kernel_id,
          .settings = Settings::values_of(trial.settings)};
}

}  // namespace orrery
