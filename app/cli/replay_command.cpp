// `orrery replay`: computes a run of a window again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "app/cli/commands.h"
#include "app/cli/option_parts.h"
#include "app/runs/replay.h"
#include "app/text/console.h"
#include "app/text/progress.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// "1 start, 300 steps, 10 states"
std::string extent(const ReplayOutcome& outcome) {
  const auto number = [](std::int64_t count, const char* one, const char* more) {
    return fmt::format("{} {}", format_count(count), count == 1 ? one : more);
  };
  return fmt::format("{}, {}, {}", number(outcome.starts, "start", "starts"), number(outcome.steps, "step", "steps"),
                     number(outcome.states, "state", "states"));
}

std::string difference_text(const std::string& file, const ReplayOutcome& outcome) {
  const ReplayOutcome::Difference& difference = *outcome.different;
  const std::string agreed =
      outcome.agreed ? fmt::format("equal until step {} of start {}", format_count(*outcome.agreed), outcome.starts)
                     : fmt::format("nothing of start {} is equal", outcome.starts);
  return fmt::format("{}:{}: {}; {}. Possible causes: {}", file, difference.line, difference.what, agreed,
                     fmt::join(difference.reasons, "; "));
}

}  // namespace

void declare_replay(CLI::App& app, OptionDraft& draft) {
  add_file(app, "FILE", "a replay file, which a window writes: the script command save-replay", draft.replay.file);
  add_kernel_file(app, draft, FileKernelUse::plain, "kernel of your own that the file names; repeatable");
  add_progress(app, draft.replay.progress);
  add_device(app, draft);
  app.footer(
      "Example:\n"
      "  orrery replay run.replay\n"
      "\nThe exit status is 1 at the first state that differs.");
}

ReplayOptions finish_replay(const OptionDraft& draft) {
  ReplayOptions replay = draft.replay;
  if (replay.file.empty()) throw UsageError("'orrery replay' needs a file: orrery replay FILE");
  replay.device = draft.device;
  return replay;
}

int run_replay(const Backends& backends, const ReplayOptions& options) {
  const Replay replay = read_replay(options.file);
  watch_stop_signals();
  Progress progress{options.progress};
  const ReplayOutcome outcome =
      play_replay(backends, replay, options.file, stop_requested, [&](const ReplayProgress& now) {
        progress.show_left(now.left_s,
                           fmt::format("step {} of {}", format_count(now.step), format_count(now.last_step)),
                           part_of(now.step, now.last_step));
      });
  progress.clear();
  if (outcome.different) {
    console::complain(difference_text(options.file, outcome));
    return 1;
  }
  if (outcome.stopped) {
    console::complain(fmt::format("stopped; equal until here: {}", extent(outcome)));
    return stop_status();
  }
  console::print("{}: {}: all equal\n", options.file, extent(outcome));
  return 0;
}

}  // namespace orrery
