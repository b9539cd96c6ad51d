#include "app/cli/compare_command.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

#include "app/cli/auto_variants.h"
#include "app/cli/compare_report.h"
#include "app/text/console.h"
#include "app/text/progress.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds nap{1};  // between looks at a batch in flight

/// With the kernel that `auto` stands for, if that is asked for.
RunVariant resolved(const Backends& backends, const CompareOptions& options, RunVariant run) {
  if (run.variant.kernel) return run;
  std::string integrator = run.integrator_id.value_or(leapfrog.id);
  for (const Command& command : options.setup) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    if (select && !run.integrator_id) integrator = select->id;
  }
  run.variant = auto_variant(backends, {.scene = options.scene,
                                        .setup = options.setup,
                                        .accuracy = options.accuracy,
                                        .jerks = find_integrator(integrator).needs_jerks});
  return run;
}

PairPlan plan_of(const Backends& backends, const CompareOptions& options) {
  PairPlan plan{.scene = options.scene,
                .setup = options.setup,
                .variants = {resolved(backends, options, *options.variants[0]),
                             resolved(backends, options, *options.variants[1])},
                .steps = options.steps,
                .every = options.every};
  if (options.energy) plan.energy_bodies = *options.energy ? body_counts.most : 0;
  return plan;
}

std::string position_of(const PairedRun& run) {
  const DivergenceSample& latest = run.taken().back();
  return fmt::format("t = {:.4g}, step {} of A", latest.time, format_count(latest.steps[0]));
}

}  // namespace

int run_compare(const Backends& backends, const CompareOptions& options) {
  using Clock = std::chrono::steady_clock;
  watch_stop_signals();
  PairedRun run{backends, plan_of(backends, options)};
  CompareReport report{backends, run, options};
  Progress progress{options.progress};
  std::exception_ptr failure;
  const Clock::time_point begin = Clock::now();
  try {
    while (!run.ended() && !stop_requested()) {
      if (run.tick()) std::this_thread::sleep_for(nap);
      report.update();
      const double passed_s = std::chrono::duration<double>(Clock::now() - begin).count();
      const double done = run.done();
      progress.show_left(done > 0 ? std::optional{passed_s * (1 - done) / done} : std::nullopt, position_of(run));
    }
  } catch (...) {
    if (run.taken().size() < 2) throw;
    failure = std::current_exception();  // what is known until here is still shown
  }
  progress.clear();
  console::show(report.finish(stdout_style(options.table)));
  if (failure) std::rethrow_exception(failure);
  if (!report.error().empty()) throw std::runtime_error(report.error());
  if (run.ended()) return 0;
  console::complain(fmt::format("stopped before the end: {:.0f} % of the steps were run", 100 * run.done()));
  return stop_status();
}

}  // namespace orrery
