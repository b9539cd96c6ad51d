#include "app/cli/race_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/cli/auto_variants.h"
#include "app/cli/measure_to_end.h"
#include "app/cli/race_report.h"
#include "app/recording/race_rows.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "compute/core/stop_signal.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

/// One for the integrators that need jerks, and one for the others, as far as there are any.
void add_choices_of_auto(VariantPlan& variants, const Backends& backends, const RaceOptions& options) {
  for (const bool jerks : {true, false}) {
    const auto is_so = [&](const std::string& id) { return find_integrator(id).needs_jerks == jerks; };
    if (std::ranges::none_of(options.integrators, is_so)) continue;
    add_auto_variant(variants, backends,
                     {.scene = options.scene, .setup = options.setup, .accuracy = options.accuracy, .jerks = jerks});
  }
}

RacePlan plan_of(const Backends& backends, const RaceOptions& options) {
  const KernelSelection kernels =
      options.kernels ? *options.kernels
                      : KernelSelection{race_kernels(backends, backends.default_kernel(), options.integrators)};
  if (!options.kernels) check_axes(kernels, options.axes);
  VariantPlan variants = expand(backends, kernels, options.axes);
  for (const std::string& note : variants.notes) console::print_error("note: {}\n", note);
  if (kernels.automatic) add_choices_of_auto(variants, backends, options);
  if (variants.variants.empty()) throw std::runtime_error("no kernel to race: " + variants.skipped.front().reason);
  return {.scene = options.scene,
          .setup = options.setup,
          .variants = std::move(variants.variants),
          .integrators = options.integrators,
          .time_steps = options.time_steps,
          .until = *options.until};
}

/// One that cannot run here is no failure as long as others can.
int status_of(const std::vector<RaceResult>& results) {
  bool any = false, failed = false;
  for (const RaceResult& result : results) {
    any |= !result.problem;
    failed |= result.problem && !result.problem.refused;
  }
  if (!any) throw std::runtime_error("no combination reached the end: " + results.front().problem.text);
  return failed ? 1 : 0;
}

}  // namespace

int run_race(const Backends& backends, const RaceOptions& options) {
  Race race{backends, plan_of(backends, options)};
  const Json metadata = race_metadata(backends, race);
  ResultFiles files{options.files, metadata, race_columns};
  measure_to_end(race, options.progress, [] {});
  for (const RaceResult& result : race.results()) files.add(race_fields(result));
  files.finish(race_json(race, metadata));
  if (!race.results().empty()) console::show(race_text(race.results(), stdout_style(options.table)));
  console::show(files.written());
  if (!files.error().empty()) throw std::runtime_error(files.error());
  if (!race.stopped()) return status_of(race.results());
  console::complain(fmt::format("stopped before the end: {:.0f} % was run", 100 * race.done()));
  return stop_status();
}

}  // namespace orrery
