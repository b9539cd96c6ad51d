#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/lab/baseline.h"
#include "app/lab/roofline/roofline.h"
#include "app/lab/sweep/result_rows.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/kernels/kernel_sharing.h"

namespace orrery {
namespace {

class Bench {
 public:
  Bench(const Backends& backends, const BenchVerb& options, std::vector<Baseline> baselines, PlannedSweep planned)
      : options_{options},
        baselines_{std::move(baselines)},
        skipped_{std::move(planned.skipped)},
        sweep_{backends, std::move(planned.plan)} {}

  int run() {
    measure();
    const std::vector<Measurement>& entries = sweep_.entries();
    const auto measured = std::ranges::count_if(entries, &Measurement::measured);
    if (measured == 0) return end_without_results();
    report_->save(skipped_);  // saved first, before anything else can fail
    const TextStyle style = stdout_style(options_.results.table);
    console::show(report_->text(skipped_, style));
    if (const KernelSharing* const sharing = sweep_.backends().kernels().sharing()) {
      console::print("Shared by {} ranks.\n", sharing->ranks());
    }
    if (options_.card) add_limits();
    const std::optional<Comparison> comparison = comparison_with_baselines();
    report_->finish(skipped_);
    console::show(report_->files().written());
    if (limits_) console::show(limits_->text(entries, style));
    if (comparison) console::show(comparison->text(sweep_.backends().kernels(), style));
    fail_on_problems();
    if (sweep_.stopped()) {
      return say_stopped(
          fmt::format("{} of {} measured", measured,
                      counted(static_cast<std::int64_t>(sweep_.total()), "variant was", "variants were")));
    }
    return comparison ? status_of(*comparison) : 0;
  }

 private:
  void measure() {
    measure_to_end(sweep_, options_.results.progress, [this] {
      if (!report_ && sweep_.first_status()) start_report();
      if (report_) report_->update();
    });
  }

  void start_report() {
    Json extra = Json::object();
    if (options_.sweep.uth) extra["protocol"] = "uth";
    report_.emplace(sweep_, options_.sweep.uth ? uth_format : bench_format, options_.results.names, extra);
  }

  void add_limits() {
    limits_.emplace(measure_machine_peak_rates(sweep_.backends()));
    report_->add("peak_rates", limits_->peak_rates().json());
    report_->add_to_results("limits", [this](const Measurement& entry) { return limits_->json(entry); });
  }

  std::optional<Comparison> comparison_with_baselines() {
    if (baselines_.empty()) return std::nullopt;
    Comparison comparison = compare(baselines_, report_->json(skipped_), options_.noise.value_or(usual_noise));
    report_->add("comparison", comparison.json);
    return comparison;
  }

  int end_without_results() {
    if (report_) report_->discard();
    if (sweep_.stopped()) return say_stopped("nothing was measured");
    throw_failure(sweep_.entries().front());
  }

  static int say_stopped(const std::string& what) {
    console::complain("stopped before the end: " + what);
    return stop_status();
  }

  /// Throws if a file or a variant failed. Settings that cannot run here are only listed.
  void fail_on_problems() const {
    if (!report_->files().error().empty()) throw std::runtime_error(report_->files().error());
    for (const Measurement& entry : sweep_.entries()) {
      if (!entry.measured() && !entry.problem.refused) throw_failure(entry);
    }
  }

  int status_of(const Comparison& comparison) const {
    if (comparison.slower + comparison.faster + comparison.unchanged == 0) {
      throw std::runtime_error(
          fmt::format("nothing here can be compared with '{}'", fmt::join(options_.baseline_files, "', '")));
    }
    return comparison.slower > 0 ? 1 : 0;
  }

  const BenchVerb& options_;
  std::vector<Baseline> baselines_;
  std::vector<Skipped> skipped_;
  Sweep sweep_;
  std::optional<KernelLimits> limits_;
  std::optional<SweepReport> report_;
};

}  // namespace

void BenchVerb::declare(CommandLine& line) {
  sweep.scene.declare_list(line, "numbers of bodies: 1k,4k,16k (the scene's)");
  sweep.kernels.declare_file(line, FileKernelUse::plain, "measures a kernel of your own; repeatable");
  sweep.kernels.declare_list(line);
  results.declare(line, sweep.kernels, sweep.device, /*several_devices=*/true);
  line.add("--warmup", "W", "steps before measuring, at least 2 (3)", [this](const std::string& text) {
    sweep.warmup_steps = static_cast<int>(parse_integer("--warmup", text, 0, 1'000'000));
  });
  sweep.declare_repeats(line);
  line.add("--protocol", "uth",
           "measures as Vliora & Liaskonis (2025) do: mean of 10 runs of 10 steps, three numbers of bodies",
           [this](const std::string& text) {
             (void)parse_choice("--protocol", text, std::array<std::string_view, 1>{"uth"});
             sweep.uth = true;
           });
  line.add(
      "--baseline", "FILE",
      "compares with the JSON or CSV of an earlier run, repeatable; exit status 1 if a result is slower",
      [this](const std::string& text) { baseline_files.push_back(file_name("--baseline", text)); }, true);
  line.add("--noise", "PERCENT",
           fmt::format("for --baseline: medians that differ by at most this are unchanged ({:g})", usual_noise), noise,
           Range<double>{0, 1000});
  line.add_flag("--card", card, "prints registers, occupancy, waves, instructions and shares of the GPU's peak rates");
  sweep.physics.declare(line);
  line.add_footer(fmt::format(
      "Examples:\n"
      "  orrery bench --kernels cuda-naive,cuda-tiled -n 4k,16k,64k --set block=64,128,256 --csv sweep.csv\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --json galaxy.json\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --baseline galaxy.json\n"
      "\nPrints a table: the time per step (median, minimum and 95 % interval of the median), interactions/s, GFLOP/s "
      "at {} flop per interaction (empty for trees), and the force error against a sum in double precision. A ranking "
      "follows: variants with overlapping intervals share their ranks. Ctrl+C ends it and keeps what was measured.",
      flop_per_interaction));
}

void BenchVerb::finish(const CommandLine& line) {
  sweep.scene.check(line);
  if (noise && baseline_files.empty()) {
    throw UsageError("--noise needs --baseline, which is not given: add --baseline OLD");
  }
  sweep.finish(line);
}

int BenchVerb::run(const Program& program) const {
  RunFiles files = results.files(sweep.scene.request);
  for (const std::string& baseline : baseline_files) add_named(files.inputs, "--baseline", baseline);
  prepare_files(files);
  const Backends backends = sweep.device.backends(program.kernels);
  compile_kernel_files(backends);
  std::vector<Baseline> baselines;  // read before the measurement, so that errors appear early
  for (const std::string& file : baseline_files) baselines.push_back(read_baseline(file));
  return Bench{backends, *this, std::move(baselines), plan_sweep(backends, sweep)}.run();
}

extern constinit const VerbInfo bench_verb{"bench", "measures kernels, settings and numbers of bodies",
                                           create_verb<BenchVerb>};

}  // namespace orrery
