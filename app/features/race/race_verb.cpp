#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/race/measure_race.h"
#include "app/features/race/race.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

/// `orrery race`: runs combinations of kernels, integrators and time steps to the same time, and prints time and error.
struct RaceVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  std::optional<double> until;  ///< simulated time at the end; always given
  std::vector<std::string> integrator_ids;
  std::vector<float> time_steps;  ///< empty: see RacePlan
  ResultOptions results;
};

std::string table_of(const std::vector<RaceRun>& results, const TextStyle& style) {
  SettingsCells settings{style};
  for (const RaceRun& result : results) {
    settings.add(result.kernel_id, result.values, result.kernel.get());
  }
  const std::vector<std::size_t> front = race_front(results);
  const bool any_problem = std::ranges::any_of(results, [](const RaceRun& result) { return bool{result.problem}; });
  Table table{"lltlrrrrrrt",
              {"", "kernel", "settings", "integrator", "dt", "steps", "evaluations", "interactions", "time s",
               "energy error", any_problem ? "problem" : ""},
              {"evaluations", "interactions", "steps"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RaceRun& result = results[i];
    const bool leads = std::ranges::find(front, i) != front.end();
    table.add({leads ? "*" : "", result.kernel_id, settings.text(result.kernel_id, result.values), result.integrator_id,
               fmt::format("{:.4g}", result.time_step), format_count(result.steps), format_count(result.evaluations),
               with_prefix(result.interactions), significant(result.seconds), scientific(result.energy_error, 3),
               result.problem.text});
  }
  return table.text(style);
}

std::string winners_of(const std::vector<RaceRun>& results, const TextStyle& style) {
  Table table{"lrt", {"energy kept to", "time s", "the cheapest is"}};
  const std::vector<RaceWinner> winners = race_winners(results);
  for (const RaceWinner& winner : winners) {
    const RaceRun& best = results[winner.run];
    table.add({scientific(winner.limit, 1), significant(best.seconds), words_for(best)});
  }
  return winners.empty() ? paragraph("No combination keeps the energy to 1e-2.", style) : '\n' + table.text(style);
}

/// Returns the table of results, and the fastest combination for each limit of the energy error.
std::string race_text(const std::vector<RaceRun>& results, const TextStyle& style) {
  return table_of(results, style) + winners_of(results, style);
}

/// Adds the kernel that `auto` chooses for the integrators that need jerks, and one for the others, if there are any.
void add_choices_of_auto(VariantPlan& variants, const Backends& backends, const RaceVerb& race) {
  for (const bool jerks : {true, false}) {
    const auto is_so = [&](const std::string& id) { return find_integrator(id).needs_jerks == jerks; };
    if (std::ranges::none_of(race.integrator_ids, is_so)) continue;
    add_auto_variant(variants, backends,
                     {.scene = race.scene.request,
                      .setup = race.physics.setup,
                      .accuracy = race.kernels.accuracy_or_default(),
                      .jerks = jerks});
  }
}

RacePlan plan_of(const Backends& backends, const RaceVerb& race) {
  const KernelSelection kernels =
      race.kernels.named ? race.kernels.selection
                         : KernelSelection{race_kernels(backends, backends.default_kernel(), race.integrator_ids)};
  if (!race.kernels.named) check_axes(kernels, race.kernels.axes);
  VariantPlan variants = expand(backends, kernels, race.kernels.axes);
  for (const std::string& note : variants.notes) console::print_error("note: {}\n", note);
  if (kernels.automatic) add_choices_of_auto(variants, backends, race);
  if (variants.variants.empty()) throw std::runtime_error("no kernel to race: " + variants.skipped.front().reason);
  return {.scene = race.scene.request,
          .setup = race.physics.setup,
          .variants = std::move(variants.variants),
          .integrators = race.integrator_ids,
          .time_steps = race.time_steps,
          .until = *race.until};
}

/// Returns the exit status. A combination that cannot run here is not a failure if another can.
int status_of(const std::vector<RaceRun>& results) {
  bool any = false, failed = false;
  for (const RaceRun& result : results) {
    any |= !result.problem;
    failed |= result.problem && !result.problem.refused;
  }
  if (!any) throw std::runtime_error("no combination reached the end: " + results.front().problem.text);
  return failed ? 1 : 0;
}

}  // namespace

void RaceVerb::declare(CommandLine& line) {
  scene.declare(line);
  line.add("--until", "T", "runs each combination to this time", until, StartRace::ends);
  kernels.declare_file(line, FileKernelUse::plain, "races a kernel of your own; repeatable");
  kernels.declare_list(line, "this machine's default kernels");
  line.add("--integrators", "A,B", fmt::format("integrators, separated by commas ({})", joined_ids(integrators())),
           [this](const std::string& text) {
             integrator_ids = split_list("the list of integrators", text);
             for (const std::string& id : integrator_ids) check_integrator(id);
           });
  line.add("--dt", "LIST", "time steps, separated by commas (4, 2, 1, 1/2 and 1/4 times the scene's)",
           [this](const std::string& text) {
             for (const std::string& step : split_list("--dt", text)) {
               time_steps.push_back(parse_in("--dt", step, SetTimeStep::range));
             }
           });
  physics.declare_eta_and_digits(line);
  physics.declare_law(line);
  results.declare(line, kernels, device, /*several_devices=*/false);
  line.add_footer(
      "Examples:\n"
      "  orrery race --scene plummer -n 4k --until 1 --kernels cpu-simd\n"
      "  orrery race --scene two-body --until 20 --kernels cpu-serial --integrators leapfrog,yoshida4\n"
      "  orrery race -n 64k --until 0.5 --kernels cuda-symmetric,cuda-tree --dt 0.01,0.005,0.0025\n"
      "\nPrints the time that each combination of kernel, integrator and time step takes, and the largest relative "
      "error of the energy on the way. Time steps are shortened so that whole steps reach the end. '*' marks those "
      "that no other combination beats in both. If an error grows with a shorter time step, it is rounding: try "
      "--digits compensated. Ctrl+C ends it and keeps what was measured.");
}

void RaceVerb::finish(const CommandLine& line) {
  scene.check(line);
  physics.take_law(line);
  if (!until) throw UsageError("'orrery race' needs the time at its end: --until T, such as --until 1");
  if (integrator_ids.empty()) {
    const bool any = !kernels.named || kernels.selection.automatic;
    integrator_ids = race_integrators(any ? std::vector<KernelPtr>{} : kernels.selection.kernels);
  }
  physics.check_eta(integrator_ids);
  scene.check_count();
  kernels.check_auto(line.kernels);
  if (kernels.named) check_axes(kernels.selection, kernels.axes);
}

int RaceVerb::run(const Program& program) const {
  prepare_files(results.files(scene.request));
  const Backends backends = device.backends(program.kernels);
  compile_kernel_files(backends);
  Race race{backends, plan_of(backends, *this)};
  const Json metadata = race_metadata(backends, race);
  ResultFiles files{results.names, metadata, race_columns};
  measure_to_end(race, results.progress, [] {});
  for (const RaceRun& result : race.results()) files.add(race_fields(result));
  files.finish(race_json(race, metadata));
  if (!race.results().empty()) console::show(race_text(race.results(), stdout_style(results.table)));
  console::show(files.written());
  if (!files.error().empty()) throw std::runtime_error(files.error());
  if (!race.stopped()) return status_of(race.results());
  console::complain(fmt::format("stopped before the end: {:.0f} % was run", 100 * race.done()));
  return stop_status();
}

extern constinit const VerbInfo race_verb{
    "race", "finds the kernel, integrator and time step that keep the energy at the least cost", create_verb<RaceVerb>};

}  // namespace orrery
