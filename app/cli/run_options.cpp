#include "app/cli/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "app/cli/option_parts.h"
#include "app/cli/start_options.h"
#include "compute/core/descriptor.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

void require_an_end(const RunOptions& run) {
  if (run.order.steps && run.order.until)
    throw UsageError("--steps and --until both end the run: leave out one of them");
  if (run.resume.empty() && !run.order.steps && !run.order.until) {
    throw UsageError("'orrery run' needs its end: --steps K or --until T");
  }
}

void refuse_what_nothing_uses(const RunOptions& run) {
  if (!run.resume.empty()) return;  // the checkpoint may have what uses it
  const RunOrder& order = run.order;
  if (run.snapshot_format && order.snapshots.empty()) {
    throw UsageError("--format is that of --snapshots, which is not given: add --snapshots FOLDER");
  }
  if (!order.snapshots.empty() && !order.every) {
    throw UsageError("--snapshots needs the simulated time between them: add --every T");
  }
  if (order.every && order.snapshots.empty() && order.diagnostics.empty()) {
    throw UsageError(
        "--every is the simulated time between snapshots or rows of diagnostics: add --snapshots or --diagnostics");
  }
  if (run.checkpoint_every_s && order.checkpoint.empty()) {
    throw UsageError("--every-s is the time between checkpoints: add --checkpoint FILE");
  }
}

}  // namespace

void declare_run(CLI::App& app, OptionDraft& draft) {
  RunOptions& run = draft.run;
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add(app, "--steps", "K", "ends after step K", [&](const std::string& text) {
    run.order.steps = parse_integer("--steps", text, 0, std::numeric_limits<std::int64_t>::max());
  });
  add(app, "--until", "T", "ends with the first step that reaches time T; a FILE's time counts",
      [&](const std::string& text) { run.order.until = parse_in("--until", text, RunOrder::ends); });
  add_kernel_file(app, draft, FileKernelUse::plain, "kernel of your own (orrery new-kernel)");
  add_kernel(app, draft, "kernel (orrery kernels); default auto: the fastest that is accurate enough");
  add_accuracy(app, draft);
  add_settings(app, draft, "VALUE", "changes a setting of the kernel; repeatable");
  add_physics(app, draft);
  add(app, "--snapshots", "FOLDER",
      "writes the bodies every T into files of this folder, made if missing; needs --every",
      [&](const std::string& text) {
        if (text == "-") refuse_value("--snapshots", text, "the name of a folder: standard output holds one file");
        run.order.snapshots = file_name("--snapshots", text);
      });
  add(app, "--format", "ID",
      "format of the snapshots: " + joined_ids(snapshot_formats()) + fmt::format(" ({})", run.order.snapshot_format),
      [&](const std::string& text) { run.snapshot_format = find_named(snapshot_formats(), text, "format")->id; });
  add_file(app, "--diagnostics", "writes energy, momentum, Lagrangian radii and more every T, as CSV",
           run.order.diagnostics);
  add(app, "--every", "T",
      "simulated time between snapshots and between rows of diagnostics (for rows: a hundredth of the run)",
      [&](const std::string& text) { run.order.every = parse_in("--every", text, RunOrder::times); });
  add(app, "--checkpoint", "FILE", "keeps the state in this file, from which --resume continues",
      [&](const std::string& text) {
        if (is_stream(text))
          refuse_value("--checkpoint", text, "the name of a file, which is replaced again and again");
        run.order.checkpoint = file_name("--checkpoint", text);
      });
  add(app, "--every-s", "S",
      fmt::format("seconds of the clock between checkpoints ({:g})", run.order.checkpoint_every_s),
      [&](const std::string& text) {
        run.checkpoint_every_s = parse_in("--every-s", text, RunOrder::checkpoint_times);
      });
  add_file(app, "--resume", "continues the run of a checkpoint, to its own end or a new one", run.resume);
  add_force(app, draft);
  add_progress(app, run.progress);
  add_device(app, draft);
  add_devices(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery run --scene collision -n 64k --until 20 --snapshots out --every 0.5 --diagnostics energy.csv\n"
      "  orrery run galaxy.tipsy --steps 10000 --checkpoint galaxy.checkpoint\n"
      "  orrery run --resume galaxy.checkpoint --steps 20000\n"
      "\nSteps are counted from the scene's first state, times from 0 or from the time in the FILE. Ctrl+C and SIGTERM "
      "write a checkpoint and print how "
      "to continue. A continued run equals an uninterrupted one bit for bit, if its kernel repeats its results.");
}

RunOptions finish_run(OptionDraft& draft) {
  RunOptions& run = draft.run;
  draft.put_devices(run);
  run.existing = draft.existing();
  require_an_end(run);
  refuse_what_nothing_uses(run);
  if (!run.resume.empty()) {
    refuse_what_a_checkpoint_decides(draft);
    return run;
  }
  run.scene = draft.scene_of_one_count();
  add_law_command(draft);
  refuse_constants_without_their_law(draft, draft.law == LawId::attract_repel);
  refuse_eta_without_block_steps(draft);
  run.setup = draft.physics;
  const KernelSelection kernel = first_kernel(draft);
  if (!kernel.automatic) refuse_accuracy_of_a_kernel(draft, "--kernel");
  if (draft.accuracy) run.setup.push_back(SetAccuracy{*draft.accuracy});
  set_first_kernel(run.setup, run.settings, kernel, draft.axes);
  return run;
}

}  // namespace orrery
