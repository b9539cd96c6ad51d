#include "app/cli/start_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

Settings::Values values_of(const std::vector<Axis>& axes) {
  Settings::Values values;
  for (const Axis& axis : axes) {
    if (axis.values.size() != 1) {
      throw UsageError(fmt::format("{} takes one value here; lists are for 'orrery bench'", axis.tunable));
    }
    values[axis.tunable] = axis.values.front();
  }
  return values;
}

bool is_physics(const Command& command) {
  return !std::holds_alternative<SetStepsPerFrame>(command);
}

bool has_block_steps(const std::string& integrator) {
  return find_integrator(integrator).block_steps;
}

}  // namespace

[[noreturn]] void refuse_settings_of_auto(const OptionDraft& draft, const char* option) {
  throw UsageError(fmt::format("{} cannot be set with {} auto, which chooses settings as well; name a kernel: {}",
                               draft.axes.front().tunable, option, joined_ids(draft.catalog.all())));
}

KernelSelection first_kernel(const OptionDraft& draft) {
  if (draft.kernel) return {.kernels = {draft.kernel}};
  if (draft.axes.empty()) return {.kernels = {}, .automatic = true};
  if (draft.kernel_named) refuse_settings_of_auto(draft, "--kernel");
  return {.kernels = draft.catalog.all(), .all = true};
}

void set_first_kernel(Commands& setup, Settings::Values& settings, const KernelSelection& first,
                      const std::vector<Axis>& axes) {
  const Settings::Values values = values_of(axes);
  if (first.automatic) {
    setup.push_back(SelectKernel{auto_kernel});
  } else if (first.all) {
    check_axes(first, axes);
    settings = values;
  } else {
    const KernelInfo& kernel = *first.kernels.front();
    setup.push_back(SelectKernel{kernel.id, Settings{kernel, values}.values()});
  }
}

void refuse_accuracy_of_a_kernel(const OptionDraft& draft, const char* option) {
  if (!draft.accuracy) return;
  throw UsageError(fmt::format("--accuracy applies only to {} auto: choose auto, or leave out --accuracy", option));
}

double accuracy_of_auto(const OptionDraft& draft) {
  const KernelSelection& selection = draft.selection;
  if (!selection.automatic) refuse_accuracy_of_a_kernel(draft, "--kernels");
  if (selection.automatic && selection.kernels.empty() && !draft.axes.empty()) {
    refuse_settings_of_auto(draft, "--kernels");
  }
  return draft.accuracy.value_or(default_accuracy);
}

void add_law_command(OptionDraft& draft) {
  if (draft.law) draft.physics.push_back(SelectLaw{law_info(*draft.law).id});
}

void refuse_constants_without_their_law(const OptionDraft& draft, bool has_law) {
  if (has_law || draft.attract_repel_option.empty()) return;
  throw UsageError(
      fmt::format("{0} belongs to the law attract-repel, which is not asked for: add --law attract-repel, "
                  "or leave {0} out",
                  draft.attract_repel_option));
}

void refuse_eta_without_block_steps(const OptionDraft& draft, const std::vector<std::string>& others) {
  const auto sets_eta = [](const Command& command) { return std::holds_alternative<SetEta>(command); };
  const auto uses_eta = [](const Command& command) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    return select && has_block_steps(select->id);
  };
  if (std::ranges::none_of(draft.physics, sets_eta) || std::ranges::any_of(draft.physics, uses_eta) ||
      std::ranges::any_of(others, has_block_steps)) {
    return;
  }
  std::vector<const IntegratorInfo*> users;
  std::ranges::copy_if(integrators(), std::back_inserter(users), &IntegratorInfo::block_steps);
  throw UsageError(
      fmt::format("--eta is the accuracy of block time steps, which no chosen integrator has: choose {}, "
                  "or leave --eta out",
                  joined_ids(users)));
}

void refuse_what_a_checkpoint_decides(const OptionDraft& draft) {
  const std::string option =
      !draft.scene.file.empty()         ? "the file '" + draft.scene.file + "'"
      : !draft.generator_option.empty() ? draft.generator_option
      : draft.kernel_named              ? "--kernel"
      : !draft.axes.empty()             ? "--set"
      : draft.accuracy                  ? "--accuracy"
      : draft.law || std::ranges::any_of(draft.physics, is_physics)
          ? "an option of the physics (--law and its constants, --integrator, --dt, --eta, --digits)"
          : "";
  if (option.empty()) return;
  throw UsageError(fmt::format(
      "{} cannot be used with --resume, which continues with what the checkpoint holds: leave it out", option));
}

}  // namespace orrery
