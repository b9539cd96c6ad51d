#include "app/cli/race_command.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "app/cli/race_report.h"
#include "app/lab/metadata.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "app/text/progress.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds nap{1};  // between looks at a batch in flight

RacePlan plan_of(const Backends& backends, const RaceOptions& options) {
  const KernelSelection kernels = options.kernels.value_or(KernelSelection{.kernels = {backends.default_kernel()}});
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

void run_to_the_end(Race& race, bool show_progress) {
  using Clock = std::chrono::steady_clock;
  Progress progress{show_progress};
  const Clock::time_point begin = Clock::now();
  while (!race.ended() && !stop_requested()) {
    if (race.tick()) std::this_thread::sleep_for(nap);
    if (race.ended()) break;
    const double passed_s = std::chrono::duration<double>(Clock::now() - begin).count(), done = race.done();
    const RaceResult& present = race.present();
    progress.show_left(
        done > 0 ? std::optional{passed_s * (1 - done) / done} : std::nullopt,
        fmt::format("{}, {}, dt {:.4g}", present.variant.kernel->id, present.integrator_id, present.time_step));
  }
  progress.clear();
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
  watch_stop_signals();
  Race race{backends, plan_of(backends, options)};
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, race.status());
  for (const char* varied : {"kernel", "settings", "integrator", "dt"}) metadata.erase(varied);
  metadata["until"] = *options.until;
  ResultFiles files{options.files, metadata, race_columns};
  run_to_the_end(race, options.progress);
  Json rows = Json::array();
  for (const RaceResult& result : race.results()) {
    files.add(race_fields(result));
    rows.push_back(race_json(result));
  }
  files.finish({{"metadata", metadata}, {"results", rows}, {"stopped", !race.ended()}});
  if (!race.results().empty()) console::print("{}", race_text(race.results(), stdout_style(options.table)));
  console::print("{}", files.written());
  if (!files.error().empty()) throw std::runtime_error(files.error());
  if (race.ended()) return status_of(race.results());
  console::complain(fmt::format("stopped before the end: {:.0f} % was run", 100 * race.done()));
  return stop_status();
}

}  // namespace orrery
