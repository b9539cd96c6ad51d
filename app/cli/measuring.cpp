// Functions shared by the measuring verbs: the choice of `auto`, and the plan of a sweep.
#include "app/cli/measuring.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
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

Sampling sampling_of(const SweepOptions& options) {
  if (options.uth) return uth_protocol::sampling;
  return {.warmup_steps = std::max(options.warmup_steps, 2), .samples = options.repeats};
}

/// Returns the variant that `auto` chooses for each number of bodies.
std::vector<Variant> choose(const Backends& backends, const SweepOptions& options) {
  const auto needs_jerks = [](const Command& command) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    return select && find_integrator(select->id).needs_jerks;
  };
  const bool jerks = std::ranges::any_of(options.physics.setup, needs_jerks);
  std::vector<Variant> chosen;
  for (const int asked : options.scene.counts) {
    SceneRequest request = options.scene.request;
    request.count = asked;
    chosen.push_back(auto_variant(backends, {.scene = request,
                                             .setup = options.physics.setup,
                                             .accuracy = options.kernels.accuracy_or_default(),
                                             .jerks = jerks}));
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

VariantPlan variants_of(const Backends& backends, const SweepOptions& options) {
  VariantPlan plan = expand(backends, options.kernels.selection, options.kernels.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty() && !options.kernels.selection.automatic) {
    throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
  }
  return plan;
}

/// Refuses options and files that the protocol determines: numbers of bodies, integrator, warm-up and repeats. Refuses
/// --baseline, as the protocol yields no interval to compare.
void refuse_what_a_protocol_decides(const CommandLine& line, const std::string& file) {
  const std::string option = !file.empty() ? "the file '" + file + "'"
                             : line.given("--baseline")
                                 ? "--baseline"
                                 : line.last_given({"-n", "--warmup", "--repeat", "--integrator"});
  if (option.empty()) return;
  throw UsageError(
      fmt::format("{} cannot be used with --protocol uth, which measures the mean of 10 runs of 10 steps "
                  "of {} and {} bodies: leave it out",
                  option, fmt::join(std::span{uth_protocol::counts}.first(2), ", "), uth_protocol::counts.back()));
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
                       chosen && chosen->error ? ", " + error_words(*chosen->error) : "");
  return {choice.kernel, choice.settings};
}

void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request) {
  Variant chosen = auto_variant(backends, request);
  const auto same = [&](const Variant& each) {
    return same_kernel(*each.kernel, *chosen.kernel) && each.settings == chosen.settings;
  };
  if (std::ranges::none_of(plan.variants, same)) plan.variants.insert(plan.variants.begin(), std::move(chosen));
}

void SweepOptions::declare_repeats(CommandLine& line) {
  line.add(
      "--repeat", "R", "number of samples; each has one step, or as many as last 20 ms (10)",
      [this](const std::string& text) { repeats = static_cast<int>(parse_integer("--repeat", text, 1, 1'000'000)); });
}

void SweepOptions::finish(const CommandLine& line) {
  kernels.check_auto(line.kernels);
  physics.take_law(line);
  physics.check_eta();
  if (uth) {
    refuse_what_a_protocol_decides(line, scene.request.file);
    physics.setup.push_back(SelectIntegrator{uth_protocol::integrator});
    scene.counts.assign(uth_protocol::counts.begin(), uth_protocol::counts.end());
  }
  device.check();
  check_axes(kernels.selection, kernels.axes);
  scene.take_counts({0});
}

PlannedSweep plan_sweep(const Backends& backends, const SweepOptions& options) {
  PlannedSweep planned{.plan = {.scene = options.scene.request,
                                .counts = options.scene.counts,
                                .variants = {},
                                .setup = options.physics.setup,
                                .sampling = sampling_of(options)},
                       .skipped = {}};
  VariantPlan variants = variants_of(backends, options);
  planned.plan.variants = std::move(variants.variants);
  planned.skipped = std::move(variants.skipped);
  if (options.kernels.selection.automatic) {
    planned.plan.chosen = choose(backends, options);
    planned.plan.variants.insert(planned.plan.variants.begin(), planned.plan.chosen.front());
  }
  print_law_notes(planned.plan.variants, options.physics.setup);
  return planned;
}

void throw_failure(const Measurement& entry) {
  // A count of 0 means that no bodies were loaded: the file failed, not the variant.
  const std::string text =
      entry.count == 0 ? entry.problem.text : entry.kernel_id + ' ' + label_of(entry) + ": " + entry.problem.text;
  if (entry.problem.refused) throw UsageError(text);
  throw std::runtime_error(text);
}

}  // namespace orrery
