#include "app/lab/measurement.h"

#include <fmt/format.h>

#include <utility>

namespace orrery {

Trial trial_of(const Status& status) {
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

std::string integrator_words(const Trial& trial) {
  std::string words = trial.integrator_id;
  if (trial.eta) words += ", eta " + shortest_text(*trial.eta);
  if (trial.digits != Digits::single) words.append(", digits ").append(word_of(trial.digits));
  return words;
}

std::string kernel_words(const Trial& trial) {
  return trial.kernel_id + (trial.kernel_version > 0 ? " v" + std::to_string(trial.kernel_version) : "");
}

std::string name_of(const Trial& trial) {
  return fmt::format("{}{}{}{}", trial.kernel_id, trial.settings.empty() ? "" : " ", trial.settings,
                     trial.count > 0 ? ", " + counted_bodies(trial.count) : "");
}

std::string label_of(const Trial& trial) {
  return fmt::format("{}{}n={}", trial.settings, trial.settings.empty() ? "" : " ", trial.count);
}

RunSetup run_of(const Trial& trial) {
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

Measurement planned(const Variant& variant, int count) {
  Measurement measurement;
  measurement.kernel_id = variant.kernel->id;
  measurement.kernel_revision = variant.kernel->revision;
  measurement.kernel_version = variant.kernel->file_version;
  measurement.settings = variant.settings.to_string();
  measurement.count = count;
  measurement.kernel = variant.kernel;
  measurement.values = variant.settings.values();
  return measurement;
}

Measurement measurement_of(const Status& status, std::vector<double> samples_ms) {
  Measurement measurement{trial_of(status)};
  measurement.kernel = status.kernel;
  measurement.values = status.settings.values();
  measurement.chosen = status.chosen;
  measurement.samples_ms = std::move(samples_ms);
  measurement.step_ms = summarize(measurement.samples_ms);
  const double interactions = status.interactions_per_step;
  if (interactions > 0) measurement.interactions_per_s = interactions / (measurement.step_ms.median / 1e3);
  if (status.force_probe) measurement.error = status.force_probe->error;
  measurement.end_time = status.sim_time;
  measurement.card = status.card;
  measurement.device_loads = status.device_loads;
  return measurement;
}

void rank(std::span<Measurement> measurements) {
  std::vector<Summary> times;
  for (const Measurement& each : measurements) times.push_back(each.step_ms);
  const std::vector<Rank> places = ranks(times);
  for (std::size_t i = 0; i < measurements.size(); ++i) measurements[i].rank = places[i];
}

}  // namespace orrery
