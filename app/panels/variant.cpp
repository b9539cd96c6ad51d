#include "app/panels/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/panels/kit/format.h"

namespace orrery {
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
