#include "app/panels/variant.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/format.h"

namespace orrery {
namespace {

bool same_kernel(const Result& result, const Status& status) {
  return result.kernel_id == status.kernel_id && result.settings == status.settings.to_string();
}

}  // namespace

const KernelInfo* known_kernel(std::string_view id) {
  const auto all = kernels();
  const auto found = std::ranges::find(all, id, [](const KernelInfo* kernel) { return kernel->id; });
  return found != all.end() ? *found : nullptr;
}

bool is_present(const Result& result, const Status& status) {
  return same_kernel(result, status) && result.law == status.law && result.integrator_id == status.integrator_id &&
         result.scene == status.scene && result.count == status.count;
}

void return_to(const Result& result, const Status& status, Requests& out) {
  const bool other_scene = result.scene != status.scene;
  const bool chosen_anew = status.auto_choice && (other_scene || result.law.id != status.law.id);
  SceneRequest scene = result.scene;
  if (!scene.file.empty()) scene.count = 0;
  // No kernel is to meet more bodies than it has to.
  if (other_scene && result.count <= status.count) out.push_back(LoadScene{scene, false});
  if (!same_kernel(result, status) || chosen_anew)
    out.push_back(SelectKernel{result.kernel_id, Settings::values_of(result.settings)});
  if (other_scene && result.count > status.count) out.push_back(LoadScene{scene, false});
  if (result.integrator_id != status.integrator_id) out.push_back(SelectIntegrator{result.integrator_id});
  const Law &law = result.law, &now = status.law;
  if (law.id != now.id) out.push_back(SelectLaw{law_info(law.id).id});
  if (law.softening != now.softening) out.push_back(SetSoftening{law.softening});
  if (law.repulsion != now.repulsion) out.push_back(SetRepulsion{law.repulsion});
  if (law.drag != now.drag) out.push_back(SetDrag{law.drag});
}

std::string changes_first(const Trial& trial) {
  const KernelInfo* kernel = known_kernel(trial.kernel_id);
  std::string changes, rest;
  for (const auto& [name, value] : Settings::values_of(trial.settings)) {
    const Tunable* tunable = kernel ? kernel->tunable(name) : nullptr;
    (tunable && value != tunable->initial ? changes : rest) += name + '=' + value + ' ';
  }
  std::string words = changes + rest;
  if (!words.empty()) words.pop_back();
  return words;
}

std::string system_words(const Trial& trial) {
  const bool generated = trial.scene.file.empty();
  std::string words = generated ? fmt::format("{}, seed {}", trial.scene.scene, trial.scene.seed) : trial.scene.file;
  words += fmt::format(", {} bodies\n{}, softening {:.3g}", format_count(trial.count), law_info(trial.law.id).id,
                       trial.law.softening);
  if (trial.law.id == LawId::attract_repel) {
    words += fmt::format(", repulsion {:.3g}, drag {:.3g}", trial.law.repulsion, trial.law.drag);
  }
  return words + ", " + trial.integrator_id;
}

std::string return_words(const Result& result, const Status& status) {
  if (is_present(result, status)) return "This is what runs now.";
  if (result.scene != status.scene)
    return "Click to load its bodies again and return to its kernel, settings, law and integrator.";
  return "Click to return to this kernel, its settings, law and integrator.";
}

}  // namespace orrery
