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

/// The law of a setup's commands, with the scene's softening if they have none.
Law law_of(const Commands& setup, const Scene& scene);

/// The problem for which `auto` chooses a kernel.
struct AutoRequest {
  SceneRequest scene;  ///< with the number of bodies
  Commands setup;      ///< law and constants
  double accuracy = default_accuracy;
  bool jerks = false;  ///< for integrators that need them
};

/// Measures, or takes from the cache, which kernel and settings `auto` stands for, and prints them to stderr as a note.
/// Throws UsageError or std::runtime_error if the bodies cannot be loaded or no kernel can run.
Variant auto_variant(const Backends& backends, const AutoRequest& request);

/// Puts auto_variant() in front of the variants of `plan`, unless it is one of them.
void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request);

/// The measurements of a sweep.
struct PlannedSweep {
  SweepPlan plan;
  std::vector<Skipped> skipped;  ///< cannot run here
};

/// The sweep of `orrery bench` and `orrery report`.
struct SweepOptions {
  SceneOptions scene;  ///< its counts: of the sweep; 0 stands for the scene's own
  KernelOptions kernels;
  PhysicsOptions physics;
  DeviceOptions device;
  int warmup_steps = 3;  ///< at least 2 are made
  int repeats = 10;
  bool uth = false;  ///< as uth_protocol has it; warmup_steps and repeats are ignored

  void declare_repeats(CommandLine& line);
  void finish(const CommandLine& line);
};

/// The sweep that these options ask for. If they ask for `auto`, it measures what `auto` chooses first. Prints notes to
/// stderr. Throws UsageError, or std::runtime_error if no kernel is left.
PlannedSweep plan_sweep(const Backends& backends, const SweepOptions& options);

/// Throws the entry's problem, as the exception that belongs to the exit status.
[[noreturn]] void throw_failure(const Measurement& entry);

/// Runs a measurement to its end, or stops it after a stop signal, with the time left on stderr; `progress` as Progress
/// takes it. `after_tick` is called again and again meanwhile.
template <class Measuring>
void measure_to_end(Measuring& measurement, bool progress, const std::function<void()>& after_tick) {
  constexpr std::chrono::milliseconds nap{2};  // between looks at a batch in flight, a tenth of a sample
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
/// Settings that the device cannot run are listed as skipped. After a run-time failure everything else is measured, and
/// the exit status is 1.
struct BenchVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SweepOptions sweep;
  ResultOptions results;
  std::vector<std::string> baseline_files;  ///< of earlier runs, to compare with
  std::optional<double> noise;              ///< see compare()
  bool card = false;                        ///< print kernel cards and shares of the GPU's peak rates
};

/// `orrery verify`: checks kernels against sums in double precision. The exit status is 1 if a kernel misses its own
/// tolerance or fails.
struct VerifyVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  std::vector<LawId> laws;               ///< never empty
  bool each_value = false;               ///< every value of every setting, one after the other; no axes
  int sample = ForceSample::usual_size;  ///< bodies whose forces are checked; the largest int stands for all
  bool sample_only = false;              ///< evaluate these bodies alone; kernels that take no targets are skipped
  bool histogram = false;                ///< print distances in units in the last place
  bool digits = false;                   ///< make the source's digit test
  ResultOptions results;
};

}  // namespace orrery
