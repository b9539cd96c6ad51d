// Variants, which are kernels with settings: how they are named, planned and shown, and why some are not measured.
#include "app/lab/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/scenes/natural_scales.h"

namespace orrery {
namespace {

bool contains(const std::vector<std::string_view>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

/// Appends `text` unless it is already there, so that the declarations' order is kept.
void add_new(std::vector<std::string_view>& texts, std::string_view text) {
  if (!contains(texts, text)) texts.push_back(text);
}

/// Returns all combinations of the axes that the kernel has. Adds notes on skipped axes and values.
std::vector<Variant> product(const KernelPtr& kernel, const std::vector<Axis>& axes, std::vector<std::string>& notes) {
  std::vector<Variant> variants{{kernel, Settings{*kernel}}};
  for (const Axis& axis : axes) {
    const Tunable* tunable = kernel->tunable(axis.tunable);
    if (!tunable) {
      notes.push_back(fmt::format("{} has no setting '{}': measured without it", kernel->id, axis.tunable));
      continue;
    }
    const std::vector<std::string> values = axis.every() ? tunable->values_to_measure() : axis.values;
    std::vector<Variant> wider;
    for (const Variant& variant : variants) {
      for (const std::string& value : values) {
        if (!tunable->allows(value)) continue;
        Variant changed = variant;
        changed.settings.set(axis.tunable, value);
        const auto same = [&](const Variant& other) { return other.settings == changed.settings; };
        if (std::ranges::none_of(wider, same)) wider.push_back(std::move(changed));
      }
    }
    variants = std::move(wider);
    for (const std::string& value : values) {
      if (!tunable->allows(value))
        notes.push_back(fmt::format("{} has no {}={}: left out", kernel->id, axis.tunable, value));
    }
  }
  return variants;
}

}  // namespace

Problem problem_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const UsageError& error) {
    return {.text = one_line(error.what()), .refused = true};
  } catch (const std::bad_alloc&) {
    return {.text = "not enough memory"};
  } catch (const std::exception& error) {
    return {.text = one_line(failure_text(error))};
  }
}

KernelSelection parse_kernels(const KernelCatalog& kernels, std::string_view text) {
  return select_kernels(kernels, split_list("the list of kernels", text));
}

KernelSelection parse_kernels_or_auto(const KernelCatalog& kernels, std::string_view text) {
  std::vector<std::string> ids = split_list("the list of kernels", text);
  const bool automatic = std::erase(ids, auto_kernel) > 0;
  KernelSelection selection = ids.empty() ? KernelSelection{} : select_kernels(kernels, ids);
  selection.automatic = automatic;
  return selection;
}

KernelSelection select_kernels(const KernelCatalog& kernels, const std::vector<std::string>& ids) {
  KernelSelection selection;
  if (ids == std::vector<std::string>{"all"}) {
    selection.all = true;
    selection.kernels = kernels.all();
    return selection;
  }
  for (const std::string& id : ids) {
    if (id == "all") throw UsageError("'all' stands alone; beside it no kernel can be named");
    if (id == auto_kernel) {
      throw UsageError(fmt::format("'{}' cannot stand here; name kernels, or all: {}", id, joined_ids(kernels.all())));
    }
    const auto has_id = [&](const KernelPtr& kernel) { return kernel->id == id; };
    if (std::ranges::none_of(selection.kernels, has_id)) selection.kernels.push_back(kernels.find(id));
  }
  return selection;
}

Axis parse_axis(std::string_view what, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(fmt::format("{} cannot be '{}'; it must be NAME=VALUE, such as block=256", what, text));
  }
  const std::string name{text.substr(0, equals)};
  return {name, split_list(fmt::format("{} {}", what, name), text.substr(equals + 1))};
}

void check_axes(const KernelSelection& selection, const std::vector<Axis>& axes) {
  if (selection.kernels.size() == 1) {  // here the error of Settings is the clearest
    Settings settings{*selection.kernels.front()};
    for (const Axis& axis : axes) {
      if (axis.every() && settings.has(axis.tunable)) continue;
      for (const std::string& value : axis.values) settings.set(axis.tunable, value);
    }
    return;
  }
  for (const Axis& axis : axes) {
    std::vector<std::string_view> names, values;
    std::vector<const Tunable*> tunables;
    for (const KernelPtr& kernel : selection.kernels) {
      for (const Tunable& tunable : kernel->tunables) {
        add_new(names, tunable.name);
        if (axis.tunable != tunable.name) continue;
        tunables.push_back(&tunable);
        for (const char* value : tunable.values) add_new(values, value);
      }
    }
    if (!contains(names, axis.tunable)) {
      throw UsageError(fmt::format("none of the selected kernels has a setting '{}'{}{}", axis.tunable,
                                   then_list(did_you_mean(axis.tunable, names), "they have"),
                                   names.empty() ? "none" : joined(names)));
    }
    if (axis.every()) continue;
    for (const std::string& value : axis.values) {
      const auto allows = [&](const Tunable* tunable) { return tunable->allows(value); };
      if (std::ranges::any_of(tunables, allows)) continue;
      // Show the widest range, which includes the most numbers.
      const Tunable* const widest = *std::ranges::max_element(tunables, {}, [](const Tunable* tunable) {
        return tunable->numbers ? tunable->numbers->most - tunable->numbers->least : 0;
      });
      throw UsageError(fmt::format("{} cannot be '{}'{}{}", axis.tunable, value,
                                   then_list(did_you_mean(value, values), "allowed values"),
                                   widest->numbers ? widest->allowed_text() : joined(values)));
    }
  }
}

std::vector<SkippedTogether> together(const std::vector<Skipped>& skipped) {
  std::vector<SkippedTogether> groups;
  for (const Skipped& skip : skipped) {
    const std::string name = skip.kernel_id + (skip.settings.empty() ? "" : " ") + skip.settings;
    const auto same = std::ranges::find(groups, skip.reason, &SkippedTogether::reason);
    if (same == groups.end()) {
      groups.push_back({name, skip.reason});
    } else {
      same->names += ", " + name;
    }
  }
  return groups;
}

std::vector<Variant> every_combination(const KernelPtr& kernel, const std::vector<Axis>& axes) {
  std::vector<std::string> notes;
  return product(kernel, axes, notes);
}

std::vector<Variant> each_value_of(const Variant& initial) {
  std::vector<Variant> variants{initial};
  for (const Tunable& tunable : initial.kernel->tunables) {
    for (const std::string& value : tunable.values_to_measure()) {
      if (value == tunable.initial) continue;
      variants.push_back(initial);
      variants.back().settings.set(tunable.name, value);
    }
  }
  return variants;
}

VariantPlan expand(const Backends& backends, const KernelSelection& selection, const std::vector<Axis>& axes) {
  VariantPlan plan;
  for (const KernelPtr& kernel : selection.kernels) {
    const BackendStatus& status = backends.status(kernel->backend);
    if (!status.available && !selection.all) {
      throw std::runtime_error(fmt::format("kernel {} cannot run here: {}; can run here: {}", kernel->id, status.reason,
                                           backends.available_kernels()));
    }
    if (const std::string refusal = backends.refusal(*kernel); selection.all && !refusal.empty()) {
      plan.skipped.push_back({kernel->id, "", refusal});
      continue;
    }
    std::vector<Variant> variants = product(kernel, axes, plan.notes);
    if (variants.empty()) plan.skipped.push_back({kernel->id, "", "it has none of the requested settings"});
    plan.variants.insert(plan.variants.end(), variants.begin(), variants.end());
  }
  return plan;
}

VariantPlan expand_each_value(const Backends& backends, const KernelSelection& selection) {
  VariantPlan plan = expand(backends, selection, {});
  const std::vector<Variant> initial = std::move(plan.variants);
  plan.variants.clear();
  for (const Variant& variant : initial) {
    const std::vector<Variant> each = each_value_of(variant);
    plan.variants.insert(plan.variants.end(), each.begin(), each.end());
  }
  return plan;
}

void SettingsCells::add(const std::string& kernel_id, const Settings::Values& values, const KernelInfo* kernel) {
  Seen& seen = kernels_[kernel_id];
  if (seen.first.empty()) seen = {values, kernel ? Settings{*kernel}.values() : Settings::Values{}, {}};
  for (const auto& [name, value] : values) {
    const auto first = seen.first.find(name);
    if (first == seen.first.end() || first->second != value) seen.differing.insert(name);
  }
}

std::string SettingsCells::text(const std::string& kernel_id, const Settings::Values& values) const {
  const auto seen = kernels_.find(kernel_id);
  std::string text;
  for (const auto& [name, value] : values) {
    if (!all_ && seen != kernels_.end() && !seen->second.differing.contains(name)) {
      const auto initial = seen->second.initial.find(name);
      if (initial != seen->second.initial.end() && initial->second == value) continue;
    }
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  }
  return text;
}

namespace {

/// Throws UsageError if the default kernel lacks one of the settings, as the user named no kernel. The error names the
/// kernels with that setting.
void require_settings(const Backends& backends, const Settings::Values& settings) {
  const KernelPtr kernel = backends.default_kernel();
  for (const auto& setting : settings) {
    const std::string& name = setting.first;
    if (kernel->tunable(name)) continue;
    std::vector<KernelPtr> owners = backends.kernels().all();
    std::erase_if(owners, [&](const KernelPtr& owner) { return !owner->tunable(name); });
    throw UsageError(fmt::format("--set {} needs the kernel that it is for: add --kernel with one of: {}", name,
                                 joined_ids(owners)));
  }
}

/// Removes notes on the suggested value of a quantity if another value is used.
void keep_the_used(std::vector<std::string>& notes, const std::string& name, double used) {
  std::erase_if(notes, [&](const std::string& note) {
    return note.starts_with(name + " ") && !note.starts_with(name + " " + short_number(used) + " ");
  });
}

}  // namespace

KernelPtr kernel_of_setup(const KernelCatalog& kernels, std::span<const Command> setup) {
  for (const Command& command : setup) {
    const auto* select = std::get_if<SelectKernel>(&command);
    if (KernelPtr kernel = select ? find_kernel_or_auto(kernels, select->id) : nullptr) return kernel;
  }
  return nullptr;
}

void set_up(Simulation& simulation, const Backends& backends, std::span<const Command> setup,
            const Settings::Values& settings) {
  for (const Command& command : setup) simulation.apply(command);
  if (settings.empty()) return;
  require_settings(backends, settings);
  simulation.apply(SelectKernel{backends.default_kernel()->id, settings});
}

std::string print_scene_notes(const Simulation& simulation) {
  std::vector<std::string> notes = simulation.scene_notes();
  const double softening = simulation.status().law.softening;
  keep_the_used(notes, "softening", softening);
  keep_the_used(notes, "dt", simulation.status().time_step);
  std::string coarse = coarse_softening(softening, simulation.smallest_orbit());
  if (!coarse.empty() && std::ranges::find(notes, coarse) == notes.end()) notes.push_back(std::move(coarse));
  if (notes.empty()) return {};
  const std::string name = printable(simulation.status().scene_name);
  for (const std::string& note : notes) console::print_error("note: {}: {}\n", name, note);
  return fmt::format("{}: {}", name, printable(fmt::format("{}", fmt::join(notes, "; "))));
}

void VariantRunner::throw_if_cancelled() const {
  if (stop_.stop_requested()) throw Cancelled{};
}

template <class Action>
auto VariantRunner::guarded(Action action) {
  try {
    return action();
  } catch (const UsageError&) {
    throw;  // a refusal leaves the simulation unchanged
  } catch (...) {
    failed_ = true;
    throw;
  }
}

Simulation& VariantRunner::simulation(const KernelPtr& kernel) {
  throw_if_cancelled();
  if (std::exchange(failed_, false)) simulation_.reset();
  if (simulation_) return *simulation_;
  auto fresh = std::make_unique<Simulation>(backends_, scene_, kernel);
  if (prepare_) prepare_(*fresh);
  simulation_ = std::move(fresh);
  throw_if_cancelled();  // loading many bodies takes a while
  return *simulation_;
}

void VariantRunner::select(const Variant& variant) {
  guarded([&] { simulation(variant.kernel).apply(variant.command()); });
}

void VariantRunner::restart() {
  guarded([&] { simulation_->apply(Restart{}); });
}

void VariantRunner::start(int steps) {
  throw_if_cancelled();
  guarded([&] { simulation_->start(steps, 0); });
  steps_ = steps;
}

std::optional<StepTiming> VariantRunner::collect() {
  return guarded([&]() -> std::optional<StepTiming> {
    const std::vector<StepTiming> ended = simulation_->collect();
    if (!simulation_->idle()) return std::nullopt;
    const Status& status = simulation_->status();
    if (const auto& body = status.non_finite) {  // a shorter text than last_error, which also has advice for the window
      throw std::runtime_error(fmt::format("body {} is not finite after step {}", body->body, body->step));
    }
    if (!status.last_error.empty()) throw std::runtime_error(status.last_error);
    if (steps_ == 0) return StepTiming{};  // the batch only measured
    if (ended.empty() || ended.back().steps < steps_) throw std::runtime_error("a step was cancelled");
    return ended.back();
  });
}

StepTiming VariantRunner::run(int steps) {
  start(steps);
  guarded([&] { simulation_->wait(stop_); });
  throw_if_cancelled();
  return collect().value();
}

/// Raises the processor's clocks before the first variant, whose time would otherwise include the rise.
void VariantRunner::raise_clocks() {
  if (std::exchange(clocks_raised_, true)) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{30};
  for (int steps = 1; std::chrono::steady_clock::now() < end; steps = std::min(2 * steps, 64)) run(steps);
}

double VariantRunner::step_ms(const Variant& variant, int steps) {
  select(variant);
  raise_clocks();
  run(1);
  return run(steps).step_ms;
}

}  // namespace orrery
