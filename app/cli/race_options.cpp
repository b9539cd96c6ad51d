// The options of `orrery race`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/option_parts.h"
#include "app/cli/start_options.h"
#include "app/lab/race/race.h"
#include "app/ui_state/race_commands.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/integrators/integrator.h"

namespace orrery {
void declare_race(CLI::App& app, OptionDraft& draft) {
  RaceOptions& race = draft.race;
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add(app, "--until", "T", "runs each combination to this time",
      [&](const std::string& text) { race.until = parse_in("--until", text, StartRace::ends); });
  add_kernel_file(app, draft, FileKernelUse::plain, "races a kernel of your own; repeatable");
  add_measured_kernels(app, draft, "this machine's default kernels");
  add(app, "--integrators", "A,B", fmt::format("integrators, separated by commas ({})", joined_ids(integrators())),
      [&](const std::string& text) {
        race.integrators = split_list("the list of integrators", text);
        for (const std::string& id : race.integrators) check_integrator(id);
      });
  add(app, "--dt", "LIST", "time steps, separated by commas (4, 2, 1, 1/2 and 1/4 times the scene's)",
      [&](const std::string& text) {
        for (const std::string& step : split_list("--dt", text)) {
          race.time_steps.push_back(parse_in("--dt", step, SetTimeStep::range));
        }
      });
  add_eta(app, draft);
  add_digits(app, draft);
  add_law(app, draft, joined_ids(laws()));
  add_measurement(app, draft, race.table, race.progress, race.files);
  app.footer(
      "Examples:\n"
      "  orrery race --scene plummer -n 4k --until 1 --kernels cpu-simd\n"
      "  orrery race --scene two-body --until 20 --kernels cpu-serial --integrators leapfrog,yoshida4\n"
      "  orrery race -n 64k --until 0.5 --kernels cuda-symmetric,cuda-tree --dt 0.01,0.005,0.0025\n"
      "\nPrints the time that each combination of kernel, integrator and time step takes, and the largest relative "
      "error of the energy on the way. Time steps are shortened so that whole steps reach the end. '*' marks those "
      "that no other combination beats in both. If an error grows with a shorter time step, it is rounding: try "
      "--digits compensated. Ctrl+C ends it and keeps what was measured.");
}

RaceOptions finish_race(OptionDraft& draft) {
  RaceOptions& race = draft.race;
  if (!race.until) throw UsageError("'orrery race' needs the time at its end: --until T, such as --until 1");
  if (race.integrators.empty()) {
    const bool any = !draft.kernel_named || draft.selection.automatic;
    race.integrators = race_integrators(any ? std::vector<KernelPtr>{} : draft.selection.kernels);
  }
  refuse_eta_without_block_steps(draft, race.integrators);
  race.scene = draft.scene_of_one_count();
  if (draft.kernel_named) race.kernels = draft.selection;
  race.accuracy = accuracy_of_auto(draft);
  if (race.kernels) check_axes(*race.kernels, draft.axes);
  race.axes = draft.axes;
  race.setup = draft.physics;
  race.files.existing = draft.existing();
  race.device = draft.device;
  return race;
}

}  // namespace orrery
