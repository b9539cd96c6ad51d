#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/lab/force_promise.h"
#include "app/lab/sweep/sweep.h"
#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/ui_state/view_options.h"
#include "compute/core/process.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

/// Returns the law that a setup selects. If the setup sets no softening, the law has the scene's.
Law law_of(const Commands& setup, const Scene& scene);

/// Problem for which `auto` chooses a kernel.
struct AutoRequest {
  SceneRequest scene;  ///< including the number of bodies
  Commands setup;      ///< commands for the law and its constants
  double accuracy = default_accuracy;
  bool jerks = false;  ///< whether the integrator needs jerks
};

/// Returns the kernel and settings that `auto` chooses, from measurement or cache, and prints them as a note on stderr.
/// Throws UsageError or std::runtime_error if the bodies cannot be loaded or no kernel can run.
Variant auto_variant(const Backends& backends, const AutoRequest& request);

/// Inserts auto_variant() as the first variant of `plan`, unless the plan already has it.
void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request);

/// The plan of a sweep, and the variants that it skips.
struct PlannedSweep {
  SweepPlan plan;
  std::vector<Skipped> skipped;  ///< variants that cannot run here
};

/// Options of the sweep in `orrery bench` and `orrery report`.
struct SweepOptions {
  SceneOptions scene;  ///< its `counts` are those of the sweep; 0: the scene's own number
  KernelOptions kernels;
  PhysicsOptions physics;
  DeviceOptions device;
  int warmup_steps = 3;  ///< less than 2 means 2
  int repeats = 10;
  bool uth = false;  ///< measure as uth_protocol; warmup_steps and repeats are ignored

  void declare_repeats(CommandLine& line);
  void finish(const CommandLine& line);
};

/// Returns the sweep for these options. If they include `auto`, first measures its choice. Prints notes on stderr.
/// Throws UsageError, or std::runtime_error if no kernel can run.
PlannedSweep plan_sweep(const Backends& backends, const SweepOptions& options);

/// Throws the entry's problem, as the exception for the matching exit status.
[[noreturn]] void throw_failure(const Measurement& entry);

/// Runs a measurement until it ends or a stop signal arrives. Shows the remaining time on stderr; see Progress for
/// `progress`. Calls `after_tick` repeatedly.
template <class Measuring>
void measure_to_end(Measuring& measurement, bool progress, const std::function<void()>& after_tick) {
  constexpr std::chrono::milliseconds nap{2};  // time between checks of a batch in flight: a tenth of a sample
  Progress shown{progress};
  watch_stop_signals();
  while (!measurement.ended()) {
    if (stop_requested()) {
      measurement.stop();
    } else if (measurement.tick()) {
      std::this_thread::sleep_for(nap);
    }
    after_tick();
    shown.show_left(measurement.left_s(), measurement.present());
  }
}

/// `orrery bench`: measures a sweep of kernels, settings and numbers of bodies, and compares it with earlier ones.
/// Settings that the device cannot run are listed as skipped. After a run-time failure, the other variants are still
/// measured, and the exit status is 1.
struct BenchVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SweepOptions sweep;
  ResultOptions results;
  std::vector<std::string> baseline_files;  ///< result files of earlier runs, to compare with
  std::optional<double> noise;              ///< see compare()
  bool card = false;                        ///< print kernel cards and fractions of the GPU's peak rates
};

/// `orrery verify`: checks kernels against double-precision sums. The exit status is 1 if a kernel misses its own
/// tolerance or fails.
struct VerifyVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  std::vector<LawId> laws;               ///< never empty
  bool each_value = false;               ///< check every value of every setting, one at a time, instead of axes
  int sample = ForceSample::usual_size;  ///< number of bodies whose forces are checked; largest int: all
  bool sample_only = false;              ///< evaluate only these bodies; kernels without target lists are skipped
  bool histogram = false;                ///< print distances in units in the last place
  bool digits = false;                   ///< run the published digit test
  ResultOptions results;
};

}  // namespace orrery
