#pragma once

#include <optional>
#include <string>

#include "compute/core/text.h"
#include "compute/sim/command.h"

namespace orrery {

/// Everything about a run except the state of its bodies. Only batches of the same trial are compared.
struct Trial {
  std::string kernel_id{}, settings{}, integrator_id{};
  int kernel_revision = 0;  ///< a kernel that was replaced is another one
  int kernel_version = 0;   ///< of a kernel file: the edit; 0: built in
  Law law{};
  float time_step = 0;
  std::optional<float> eta{};  ///< of block steps; none with other integrators
  Digits digits = Digits::single;
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
          .kernel_version = status.kernel ? status.kernel->file_version : 0,
          .law = status.law,
          .time_step = status.time_step,
          .eta = status.block_steps ? std::optional{status.eta} : std::nullopt,
          .digits = status.digits,
          .scene = status.scene,
          .count = status.count};
}

/// "leapfrog-blocks, eta 0.025", or "leapfrog, digits compensated"
inline std::string integrator_words(const Trial& trial) {
  std::string words = trial.integrator_id;
  if (trial.eta) words += ", eta " + shortest_text(*trial.eta);
  if (trial.digits != Digits::single) words.append(", digits ").append(word_of(trial.digits));
  return words;
}

/// "my-kernel v3" of a kernel file; else the id.
inline std::string kernel_words(const Trial& trial) {
  return trial.kernel_id + (trial.kernel_version > 0 ? " v" + std::to_string(trial.kernel_version) : "");
}

/// The run to return to for this trial, with its version of the kernel.
inline RunSetup run_of(const Trial& trial) {
  return {.scene = trial.scene,
          .physics = {.integrator_id = trial.integrator_id,
                      .law = trial.law,
                      .time_step = trial.time_step,
                      .eta = trial.eta.value_or(StepCriterion::usual_eta),
                      .digits = trial.digits},
          .kernel_id = trial.kernel_id,
          .kernel_revision = trial.kernel_revision,
          .settings = Settings::values_of(trial.settings)};
}

}  // namespace orrery
