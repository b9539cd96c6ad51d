// Names of quantities with units, trials and systems, as shown in panels.
#include "app/panels/shown_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/panels/kit/format.h"

namespace orrery {

ShownUnit shown_unit(const std::optional<Units>& units, const Dimension& dimension, double number) {
  if (!units) return {};
  const double own = own_unit(*units, dimension);
  const ShownUnit unit = unit_for(dimension, std::abs(number) * own);
  return {" " + unit.name, unit.size / own};
}

std::string shown_text(const std::optional<Units>& units, const Dimension& dimension, std::span<const float> numbers) {
  double largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::abs(double{number}));
  const ShownUnit unit = shown_unit(units, dimension, largest);
  std::string text;
  for (const float number : numbers) {
    text += (text.empty() ? "" : ", ") + four_digits(double{number} / unit.size);
  }
  return text + unit.name;
}

ShownRange shown_range(const std::optional<Units>& units, const Legend& legend) {
  if (!units || !legend.dimension) return {legend.low, legend.high, legend.unit};
  const ShownUnit unit = shown_unit(units, *legend.dimension, std::max(std::abs(legend.low), std::abs(legend.high)));
  return {legend.low / unit.size, legend.high / unit.size, unit.name.substr(1)};
}

const KernelInfo* known_kernel(std::span<const KernelPtr> kernels, std::string_view id) {
  const auto found = std::ranges::find_if(kernels, [&](const KernelPtr& kernel) { return id == kernel->id; });
  return found != kernels.end() ? found->get() : nullptr;
}

bool is_present(const Trial& trial, const Status& status) {
  return trial == trial_of(status);
}

void return_to(const Trial& trial, const Status& status, Requests& out) {
  if (!is_present(trial, status)) out.push_back(ReturnToRun{run_of(trial)});
}

std::string changes_first(const Trial& trial, std::span<const KernelPtr> kernels) {
  const KernelInfo* kernel = known_kernel(kernels, trial.kernel_id);
  std::string changes, rest;
  for (const auto& [name, value] : Settings::values_of(trial.settings)) {
    const Tunable* tunable = kernel ? kernel->tunable(name) : nullptr;
    (tunable && value != tunable->initial ? changes : rest) += name + '=' + value + ' ';
  }
  std::string words = changes + rest;
  if (!words.empty()) words.pop_back();
  return words;
}

std::string scene_name(const Trial& trial) {
  return trial.scene.file.empty() ? trial.scene.scene : std::filesystem::path{trial.scene.file}.filename().string();
}

std::string system_words(const Trial& trial) {
  const bool generated = trial.scene.file.empty();
  std::string words = generated ? fmt::format("{}, seed {}", trial.scene.scene, trial.scene.seed) : trial.scene.file;
  words += fmt::format(", {}\n{}, dt {:.3g}, softening {:.3g}", counted_bodies(trial.count), law_info(trial.law.id).id,
                       trial.time_step, trial.law.softening);
  if (trial.law.id == LawId::attract_repel) {
    words += fmt::format(", repulsion {:.3g}, drag {:.3g}", trial.law.repulsion, trial.law.drag);
  }
  return words + ", " + integrator_words(trial);
}

std::string return_words(const Trial& trial, const Status& status) {
  if (is_present(trial, status)) return "This is the present run.";
  const bool other_scene = trial.scene != status.scene;
  return fmt::format(
      "Click to return to this run: its kernel, settings, dt, softening, law and integrator. {} Ctrl+Z undoes it.",
      other_scene ? "The bodies start from the first state." : "The bodies continue from their present state.");
}

}  // namespace orrery
