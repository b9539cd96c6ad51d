// `orrery bench`: measures a sweep of kernels, settings and counts, and compares it with earlier ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/measuring.h"
#include "app/cli/option_parts.h"
#include "app/lab/baseline.h"
#include "app/lab/roofline/roofline.h"
#include "app/lab/sweep/result_rows.h"
#include "app/recording/sweep_report.h"
#include "app/text/console.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"
#include "compute/kernels/kernel_sharing.h"

namespace orrery {
namespace {

class Bench {
 public:
  Bench(const Backends& backends, const BenchOptions& options, std::vector<Baseline> baselines, PlannedSweep planned)
      : options_{options},
        baselines_{std::move(baselines)},
        skipped_{std::move(planned.skipped)},
        sweep_{backends, std::move(planned.plan)} {}

  int run() {
    measure();
    const std::vector<SweepEntry>& entries = sweep_.entries();
    const auto measured =
        std::ranges::count_if(entries, [](const SweepEntry& entry) { return entry.result.has_value(); });
    if (measured == 0) return end_without_results();
    report_->save(skipped_);  // before anything else can fail
    const TextStyle style = stdout_style(options_.table);
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
    measure_to_end(sweep_, options_.progress, [this] {
      if (!report_ && sweep_.first_status()) start_report();
      if (report_) report_->update();
    });
  }

  void start_report() {
    Json extra = Json::object();
    if (options_.uth) extra["protocol"] = "uth";
    report_.emplace(sweep_, options_.uth ? uth_format : bench_format, options_.files, extra);
  }

  void add_limits() {
    limits_.emplace(measure_machine_peak_rates(sweep_.backends()));
    report_->add("peak_rates", limits_->peak_rates().json());
    report_->add_to_results("limits", [this](const SweepEntry& entry) { return limits_->json(entry); });
  }

  std::optional<Comparison> comparison_with_baselines() {
    if (baselines_.empty()) return std::nullopt;
    Comparison comparison = compare(baselines_, report_->json(skipped_), options_.noise);
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

  /// Settings that cannot run here are listed; they are not a failure.
  void fail_on_problems() const {
    if (!report_->files().error().empty()) throw std::runtime_error(report_->files().error());
    for (const SweepEntry& entry : sweep_.entries()) {
      if (!entry.result && !entry.problem.refused) throw_failure(entry);
    }
  }

  int status_of(const Comparison& comparison) const {
    if (comparison.slower + comparison.faster + comparison.unchanged == 0) {
      throw std::runtime_error(
          fmt::format("nothing here can be compared with '{}'", fmt::join(options_.baseline_files, "', '")));
    }
    return comparison.slower > 0 ? 1 : 0;
  }

  const BenchOptions& options_;
  std::vector<Baseline> baselines_;
  std::vector<Skipped> skipped_;
  Sweep sweep_;
  std::optional<KernelLimits> limits_;
  std::optional<SweepReport> report_;
};

/// The protocol decides numbers of bodies, integrator, warm-up and repeats; it has no interval to compare by.
void refuse_what_a_protocol_decides(const OptionDraft& draft) {
  const std::string option = !draft.scene.file.empty()             ? "the file '" + draft.scene.file + "'"
                             : !draft.bench.baseline_files.empty() ? "--baseline"
                                                                   : draft.procedure_option;
  if (option.empty()) return;
  throw UsageError(
      fmt::format("{} cannot be used with --protocol uth, which measures the mean of 10 runs of 10 steps "
                  "of {} and {} bodies: leave it out",
                  option, fmt::join(std::span{uth_protocol::counts}.first(2), ", "), uth_protocol::counts.back()));
}

}  // namespace

void declare_bench(CLI::App& app, OptionDraft& draft) {
  BenchOptions& bench = draft.bench;
  add_scene(app, draft, "LIST", "numbers of bodies: 1k,4k,16k (the scene's)");
  add_kernel_file(app, draft, FileKernelUse::plain, "measures a kernel of your own; repeatable");
  add_measured_kernels(app, draft);
  add_measurement(app, draft, bench.table, bench.progress, bench.files);
  add_devices(app, draft);
  add(app, "--warmup", "W", "steps before measuring, at least 2 (3)", [&](const std::string& text) {
    bench.warmup_steps = static_cast<int>(parse_integer("--warmup", text, 0, 1'000'000));
    draft.procedure_option = "--warmup";
  });
  add_repeats(app, draft);
  add(app, "--protocol", "uth",
      "measures as Vliora & Liaskonis (2025) do: mean of 10 runs of 10 steps, three numbers of bodies",
      [&](const std::string& text) {
        (void)parse_choice("--protocol", text, std::array<std::string_view, 1>{"uth"});
        bench.uth = true;
      });
  add(
      app, "--baseline", "FILE",
      "compares with the JSON or CSV of an earlier run, repeatable; exit status 1 if a result is slower",
      [&](const std::string& text) { bench.baseline_files.push_back(file_name("--baseline", text)); }, true);
  add(app, "--noise", "PERCENT",
      fmt::format("for --baseline: medians that differ by at most this are unchanged ({:g})", usual_noise),
      [&](const std::string& text) {
        draft.noise = parse_in("--noise", text, Range<double>{0, 1000});
      });
  add_flag(app, "--card", bench.card,
           "prints registers, occupancy, waves, instructions and shares of the GPU's peak rates");
  add_physics(app, draft);
  app.footer(fmt::format(
      "Examples:\n"
      "  orrery bench --kernels cuda-naive,cuda-tiled -n 4k,16k,64k --set block=64,128,256 --csv sweep.csv\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --json galaxy.json\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --baseline galaxy.json\n"
      "\nPrints a table: the time per step (median, minimum and 95 % interval of the median), interactions/s, GFLOP/s "
      "at {} flop per interaction (empty for trees), and the force error against a sum in double precision. A ranking "
      "follows: variants with overlapping intervals share their ranks. Ctrl+C ends it and keeps what was measured.",
      flop_per_interaction));
}

BenchOptions finish_bench(OptionDraft& draft) {
  if (draft.noise && draft.bench.baseline_files.empty()) {
    throw UsageError("--noise needs --baseline, which is not given: add --baseline OLD");
  }
  draft.bench.noise = draft.noise.value_or(usual_noise);
  add_law_command(draft);
  draft.bench.accuracy = accuracy_of_auto(draft);
  refuse_constants_without_their_law(draft, draft.law == LawId::attract_repel);
  refuse_eta_without_block_steps(draft);
  if (draft.bench.uth) {
    refuse_what_a_protocol_decides(draft);
    draft.physics.push_back(SelectIntegrator{uth_protocol::integrator});
    draft.counts.assign(uth_protocol::counts.begin(), uth_protocol::counts.end());
  }
  finish_measurement(draft, draft.bench, {0});
  return draft.bench;
}

int run_bench(const Backends& backends, const BenchOptions& options) {
  std::vector<Baseline> baselines;  // read before anything is measured
  for (const std::string& file : options.baseline_files) baselines.push_back(read_baseline(file));
  return Bench{backends, options, std::move(baselines), plan_sweep(backends, options)}.run();
}

}  // namespace orrery
