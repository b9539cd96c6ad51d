#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/runs/replay.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// Returns "1 start, 300 steps, 10 states".
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

/// `orrery replay`: computes a run of a window again, and compares the states. The exit status is 1 if one differs.
struct ReplayVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add_file("FILE", "a replay file, which a window writes: the script command save-replay", file);
    kernels.declare_file(line, FileKernelUse::plain, "kernel of your own that the file names; repeatable");
    add_progress(line, progress);
    device.declare(line);
    line.add_footer(
        "Example:\n"
        "  orrery replay run.replay\n"
        "\nThe exit status is 1 at the first state that differs.");
  }

  void finish(const CommandLine& /*line*/) override {
    if (file.empty()) throw UsageError("'orrery replay' needs a file: orrery replay FILE");
  }

  int run(const Program& program) const override {
    const Backends backends = device.backends(program.kernels);
    compile_kernel_files(backends);
    const Replay replay = read_replay(file);
    watch_stop_signals();
    Progress shown{progress};
    const ReplayOutcome outcome = play_replay(backends, replay, file, stop_requested, [&](const ReplayProgress& now) {
      shown.show_left(now.left_s, fmt::format("step {} of {}", format_count(now.step), format_count(now.last_step)),
                      part_of(now.step, now.last_step));
    });
    shown.clear();
    if (outcome.different) {
      console::complain(difference_text(file, outcome));
      return 1;
    }
    if (outcome.stopped) {
      console::complain(fmt::format("stopped; equal until here: {}", extent(outcome)));
      return stop_status();
    }
    console::print("{}: {}: all equal\n", file, extent(outcome));
    return 0;
  }

  std::string file;
  KernelOptions kernels;
  bool progress = false;  // even if stderr is not a terminal
  DeviceOptions device;
};

}  // namespace

extern constinit const VerbInfo replay_verb{"replay", "computes a run of a window again and compares its states",
                                            create_verb<ReplayVerb>};

}  // namespace orrery
