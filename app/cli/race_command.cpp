#include "app/cli/race_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/cli/measure_to_end.h"
#include "app/cli/race_report.h"
#include "app/lab/metadata.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "compute/core/stop_signal.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

/// The default kernel, and the one for integrators that need jerks.
KernelSelection default_kernels(const Backends& backends, const RaceOptions& options) {
  const auto needs_jerks = [](const std::string& id) { return find_integrator(id).needs_jerks; };
  KernelSelection kernels{.kernels = {}};
  if (!std::ranges::all_of(options.integrators, needs_jerks)) kernels.kernels.push_back(backends.default_kernel());
  if (std::ranges::any_of(options.integrators, needs_jerks)) {
    kernels.kernels.push_back(backends.default_kernel(/*jerks=*/true));
  }
  return kernels;
}

RacePlan plan_of(const Backends& backends, const RaceOptions& options) {
  const KernelSelection kernels = options.kernels ? *options.kernels : default_kernels(backends, options);
  if (!options.kernels) check_axes(kernels, options.axes);
  VariantPlan variants = expand(backends, kernels, options.axes);
  for (const std::string& note : variants.notes) console::print_error("note: {}\n", note);
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
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, race.status());
  for (const char* varied : {"kernel", "settings", "integrator", "dt"}) metadata.erase(varied);
  metadata["until"] = *options.until;
  metadata["eta"] = decimal(race.status().eta);
  ResultFiles files{options.files, metadata, race_columns};
  measure_to_end(race, options.progress, [] {});
  Json rows = Json::array();
  for (const RaceResult& result : race.results()) {
    files.add(race_fields(result));
    rows.push_back(race_json(result));
  }
  files.finish({{"metadata", metadata}, {"results", rows}, {"stopped", race.stopped()}});
  if (!race.results().empty()) console::print("{}", race_text(race.results(), stdout_style(options.table)));
  console::print("{}", files.written());
  if (!files.error().empty()) throw std::runtime_error(files.error());
  if (!race.stopped()) return status_of(race.results());
  console::complain(fmt::format("stopped before the end: {:.0f} % was run", 100 * race.done()));
  return stop_status();
}

}  // namespace orrery
