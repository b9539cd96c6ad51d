// The options of `orrery compare`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/option_parts.h"
#include "app/cli/start_options.h"
#include "app/lab/divergence/paired_run.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr std::int64_t most_steps = 100'000'000, most_every = 1'000'000;

void add_variant(CLI::App& app, OptionDraft& draft, const char* option, std::size_t which, const std::string& help) {
  add(app, option, "VARIANT", help, [&draft, option, which](const std::string& text) {
    draft.compare.variants[which] = parse_run_variant(draft.catalog, option, text);
  });
}

}  // namespace

void declare_compare(CLI::App& app, OptionDraft& draft) {
  CompareOptions& compare = draft.compare;
  add_kernel_file(
      app, draft, FileKernelUse::plain,
      "kernel of your own, which --a and --b can name; repeatable: two versions of one kernel need two ids");
  add_variant(app, draft, "--a", 0,
              "the first run: KERNEL or auto, then NAME=VALUE for settings, integrator, dt and nudge");
  add_variant(app, draft, "--b", 1, "the second run, in the same form");
  add_accuracy(app, draft);
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add(app, "--steps", "K", fmt::format("number of steps, of the longer time step if there are two ({})", compare.steps),
      [&](const std::string& text) { compare.steps = parse_integer("--steps", text, 1, most_steps); });
  add(app, "--every", "S", "steps from one sample of the distances to the next (a 200th of the steps)",
      [&](const std::string& text) { compare.every = parse_integer("--every", text, 1, most_every); });
  add(app, "--energy", "on|off",
      fmt::format("measures the energies, which takes all pairs in double precision (on up to {} bodies)",
                  PairPlan{}.energy_bodies),
      [&](const std::string& text) { compare.energy = parse_switch("--energy", text); });
  add_table_flags(app, compare.table);
  add_file(app, "--csv", "writes all samples as CSV", compare.files.csv);
  add_file(app, "--json", "writes all samples and the fit as JSON", compare.files.json);
  add_force(app, draft);
  add_progress(app, compare.progress);
  add_device(app, draft);
  add_physics(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery compare --a cpu-simd --b cpu-tree,theta=0.7 --scene plummer -n 4k --steps 2000\n"
      "  orrery compare --a cuda-tiled --b cuda-fp64 -n 16k --csv rounding.csv\n"
      "  orrery compare --a cpu-simd --b \"cpu-simd integrator=euler dt=0.001\" --dt 0.002\n"
      "  orrery compare --a cpu-simd --b cpu-simd,nudge=1e-6 --scene plummer -n 1k --steps 2000\n"
      "\nBoth runs start from the same bodies and are compared at equal times: one time step must be a whole multiple "
      "of the other. nudge moves each body of a run by so much at the start. Prints the distances between the two "
      "positions of each body (rms, median and greatest), the "
      "relative energy errors, the e-folding time of the median distance, and the speeds. Ctrl+C ends it and keeps "
      "what was measured.");
}

CompareOptions finish_compare(OptionDraft& draft) {
  CompareOptions& compare = draft.compare;
  for (const std::size_t which : {0, 1}) {
    if (compare.variants[which]) continue;
    const char* const name = which == 0 ? "--a" : "--b";
    throw UsageError(
        fmt::format("'orrery compare' needs two variants: add {} KERNEL, such as {} cpu-simd", name, name));
  }
  const auto is_auto = [](const std::optional<RunVariant>& run) { return !run->variant.kernel; };
  if (std::ranges::none_of(compare.variants, is_auto)) refuse_accuracy_of_a_kernel(draft, "--a or --b");
  compare.accuracy = draft.accuracy.value_or(default_accuracy);
  std::vector<std::string> own_integrators;
  for (const std::optional<RunVariant>& variant : compare.variants) {
    if (variant->integrator_id) own_integrators.push_back(*variant->integrator_id);
  }
  refuse_eta_without_block_steps(draft, own_integrators);
  compare.scene = draft.scene_of_one_count();
  compare.setup = draft.physics;
  compare.files.existing = draft.existing();
  compare.device = draft.device;
  return compare;
}

}  // namespace orrery
