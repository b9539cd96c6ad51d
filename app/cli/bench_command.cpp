#include "app/cli/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measure_to_end.h"
#include "app/cli/planned_sweep.h"
#include "app/lab/baseline.h"
#include "app/lab/roofline/kernel_limits.h"
#include "app/recording/sweep_report.h"
#include "app/text/console.h"
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

}  // namespace

int run_bench(const Backends& backends, const BenchOptions& options) {
  std::vector<Baseline> baselines;  // read before anything is measured
  for (const std::string& file : options.baseline_files) baselines.push_back(read_baseline(file));
  return Bench{backends, options, std::move(baselines), plan_sweep(backends, options)}.run();
}

}  // namespace orrery
