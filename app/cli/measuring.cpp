// Parts that the measuring commands share: the choice of `auto`, and the plan of a sweep.
#include "app/cli/measuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/lab/force_promise.h"
#include "app/lab/sweep/result_rows.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

Sampling sampling_of(const BenchOptions& options) {
  if (options.uth) return uth_protocol::sampling;
  return {.warmup_steps = std::max(options.warmup_steps, 2), .samples = options.repeats};
}

std::string named(const SweepEntry& entry) {
  return fmt::format("{} {}", entry.variant.kernel->id, entry.label());
}

/// The choice of `auto` for each number of bodies.
std::vector<Variant> choose(const Backends& backends, const BenchOptions& options) {
  const auto needs_jerks = [](const Command& command) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    return select && find_integrator(select->id).needs_jerks;
  };
  const bool jerks = std::ranges::any_of(options.setup, needs_jerks);
  std::vector<Variant> chosen;
  for (const int asked : options.counts) {
    SceneRequest request = options.scene;
    request.count = asked;
    chosen.push_back(auto_variant(
        backends, {.scene = request, .setup = options.setup, .accuracy = options.accuracy, .jerks = jerks}));
  }
  return chosen;
}

void print_law_notes(const std::vector<Variant>& variants, const Commands& setup) {
  std::set<std::string> notes;
  for (const Variant& variant : variants) {
    notes.insert(law_note(*variant.kernel, variant.settings, law_of(setup, Scene{}).id));
  }
  for (const std::string& note : notes) {
    if (!note.empty()) console::print_error("note: {}\n", note);
  }
}

VariantPlan variants_of(const Backends& backends, const BenchOptions& options) {
  VariantPlan plan = expand(backends, options.kernels, options.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty() && !options.kernels.automatic) {
    throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
  }
  return plan;
}

}  // namespace

Law law_of(const Commands& setup, const Scene& scene) {
  Law law{.softening = scene.softening};
  for (const Command& command : setup) {
    if (const auto* select = std::get_if<SelectLaw>(&command)) law.id = find_law(select->id);
    if (const auto* set = std::get_if<SetSoftening>(&command)) law.softening = set->softening;
    if (const auto* set = std::get_if<SetRepulsion>(&command)) law.repulsion = set->repulsion;
    if (const auto* set = std::get_if<SetDrag>(&command)) law.drag = set->drag;
  }
  return law;
}

Variant auto_variant(const Backends& backends, const AutoRequest& request) {
  AutoChooser chooser{AutoChooser::this_machine(backends)};
  const Scene scene = load_scene(request.scene);
  const Bodies& bodies = scene.bodies;
  const Law law = law_of(request.setup, scene);
  const KernelChoice choice = chooser.choose({.count = bodies.count(),
                                              .law = law.id,
                                              .equal_masses = mass_range(bodies.positions).equal(),
                                              .accuracy = request.accuracy,
                                              .jerks = request.jerks},
                                             {bodies, law}, {});
  const std::optional<Candidate>& chosen = chooser.chosen();
  console::print_error("note: {}, {}: {}{}\n", counted_bodies(bodies.count()), law_info(law.id).id, name_of(choice),
                       chosen && chosen->median_error ? ", " + error_words(*chosen) : "");
  return {choice.kernel, choice.settings};
}

void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request) {
  Variant chosen = auto_variant(backends, request);
  const auto same = [&](const Variant& each) {
    return same_kernel(*each.kernel, *chosen.kernel) && each.settings == chosen.settings;
  };
  if (std::ranges::none_of(plan.variants, same)) plan.variants.insert(plan.variants.begin(), std::move(chosen));
}

PlannedSweep plan_sweep(const Backends& backends, const BenchOptions& options) {
  PlannedSweep planned{.plan = {.scene = options.scene,
                                .counts = options.counts,
                                .variants = {},
                                .setup = options.setup,
                                .sampling = sampling_of(options)},
                       .skipped = {}};
  VariantPlan variants = variants_of(backends, options);
  planned.plan.variants = std::move(variants.variants);
  planned.skipped = std::move(variants.skipped);
  if (options.kernels.automatic) {
    planned.plan.chosen = choose(backends, options);
    planned.plan.variants.insert(planned.plan.variants.begin(), planned.plan.chosen.front());
  }
  print_law_notes(planned.plan.variants, options.setup);
  return planned;
}

void throw_failure(const SweepEntry& entry) {
  // Without a count there were no bodies: the file failed, not the variant.
  const std::string text = entry.count == 0 ? entry.problem.text : named(entry) + ": " + entry.problem.text;
  if (entry.problem.refused) throw UsageError(text);
  throw std::runtime_error(text);
}

}  // namespace orrery
