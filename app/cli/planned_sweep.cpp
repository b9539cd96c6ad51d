#include "app/cli/planned_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/lab/sweep/uth_protocol.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/core/format_count.h"

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
  AutoChooser chooser{AutoChooser::this_machine(backends)};
  std::vector<Variant> chosen;
  for (const int asked : options.counts) {
    SceneRequest request = options.scene;
    request.count = asked;
    const Scene scene = load_scene(request);
    const Bodies& bodies = scene.bodies;
    const Law law = law_of(options.setup, scene);
    const KernelChoice choice = chooser.choose({.count = bodies.count(),
                                                .law = law.id,
                                                .equal_masses = mass_range(bodies.positions).equal(),
                                                .accuracy = options.accuracy},
                                               {bodies, law}, {});
    console::print_error("note: {}: {}\n", counted_bodies(bodies.count()), name_of(choice));
    chosen.push_back({choice.kernel, choice.settings});
  }
  return chosen;
}

VariantPlan variants_of(const Backends& backends, const BenchOptions& options) {
  VariantPlan plan = expand(backends, options.kernels, options.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty()) throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
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

PlannedSweep plan_sweep(const Backends& backends, const BenchOptions& options) {
  PlannedSweep planned{.plan = {.scene = options.scene,
                                .counts = options.counts,
                                .variants = {},
                                .setup = options.setup,
                                .sampling = sampling_of(options)},
                       .skipped = {}};
  if (options.kernels.automatic) {
    planned.plan.chosen = choose(backends, options);
    planned.plan.variants = {planned.plan.chosen.front()};
  } else {
    VariantPlan variants = variants_of(backends, options);
    planned.plan.variants = std::move(variants.variants);
    planned.skipped = std::move(variants.skipped);
  }
  return planned;
}

void throw_failure(const SweepEntry& entry) {
  // Without a count there were no bodies: the file failed, not the variant.
  const std::string text = entry.count == 0 ? entry.problem.text : named(entry) + ": " + entry.problem.text;
  if (entry.problem.refused) throw UsageError(text);
  throw std::runtime_error(text);
}

}  // namespace orrery
