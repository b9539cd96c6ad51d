// Runs one system of bodies with one variant after the other, and sets up simulations.
#include "app/lab/variant_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/text/console.h"
#include "app/text/printable.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/scenes/natural_scales.h"

namespace orrery {
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
