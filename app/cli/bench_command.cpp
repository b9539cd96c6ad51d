#include "app/cli/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/lab/baseline.h"
#include "app/lab/roofline/kernel_limits.h"
#include "app/lab/sweep/sweep.h"
#include "app/lab/sweep/uth_protocol.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/recording/sweep_report.h"
#include "app/text/console.h"
#include "app/text/format_count.h"
#include "app/text/progress.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds nap{2};  // between looks at a batch in flight, a tenth of a sample

Sampling sampling_of(const BenchOptions& options) {
  if (options.uth) return uth_protocol::sampling;
  return {.warmup_steps = std::max(options.warmup_steps, 2), .samples = options.repeats};
}

std::string named(const SweepEntry& entry) {
  return fmt::format("{} {}", entry.variant.kernel->id, entry.label());
}

/// Throws the entry's problem, as the exception that belongs to the exit status.
[[noreturn]] void throw_failure(const SweepEntry& entry) {
  // Without a count there were no bodies: the file failed, not the variant.
  const std::string text = entry.count == 0 ? entry.problem.text : named(entry) + ": " + entry.problem.text;
  if (entry.problem.refused) throw UsageError(text);
  throw std::runtime_error(text);
}

Law law_of(const Commands& setup, const Scene& scene) {
  Law law{.softening = scene.softening};
  for (const Command& command : setup) {
    if (const auto* select = std::get_if<SelectLaw>(&command)) law.id = find_law(select->id);
    if (const auto* set = std::get_if<SetSoftening>(&command)) law.softening = set->softening;
    if (const auto* set = std::get_if<SetRepulsion>(&command)) law.repulsion = set->repulsion;
    if (const auto* set = std::get_if<SetDrag>(&command)) law.drag = set->drag;
  }
  return law;
}

/// The choice of `auto` for each number of bodies.
std::vector<Variant> choose(const Backends& backends, const BenchOptions& options) {
  AutoChooser chooser{AutoChooser::this_machine(backends)};
  std::vector<Variant> chosen;
  for (const int asked : options.counts) {
    SceneRequest request = options.scene;
    request.count = asked;
    const Scene scene = load_scene(request);
    const Bodies& bodies = scene.bodies;
    const Law law = law_of(options.setup, scene);
    const KernelChoice choice = chooser.choose({.count = bodies.count(),
                                                .law = law.id,
                                                .equal_masses = mass_range(bodies.positions).equal(),
                                                .accuracy = options.accuracy},
                                               {bodies, law}, {});
    console::print_error("note: {} bodies: {}\n", format_count(bodies.count()), name_of(choice));
    chosen.push_back({choice.kernel, choice.settings});
  }
  return chosen;
}

class Bench {
 public:
  Bench(const Backends& backends, const BenchOptions& options, std::vector<Baseline> baselines, VariantPlan plan,
        std::vector<Variant> chosen)
      : options_{options},
        baselines_{std::move(baselines)},
        skipped_{std::move(plan.skipped)},
        sweep_{backends,
               {.scene = options.scene,
                .counts = options.counts,
                .variants = std::move(plan.variants),
                .chosen = std::move(chosen),
                .setup = options.setup,
                .sampling = sampling_of(options)}} {}

  int run() {
    measure();
    const std::vector<SweepEntry>& entries = sweep_.entries();
    const auto measured =
        std::ranges::count_if(entries, [](const SweepEntry& entry) { return entry.result.has_value(); });
    if (measured == 0) return end_without_results();
    report_->save(skipped_);  // before anything else can fail
    const TextStyle style = stdout_style(options_.table);
    console::print("{}", report_->text(skipped_, style));
    if (options_.card) add_limits();
    const std::optional<Comparison> comparison = comparison_with_baselines();
    report_->finish(skipped_);
    console::print("{}", report_->files().written());
    if (limits_) console::print("{}", limits_->text(entries, style));
    if (comparison) console::print("{}", comparison->text(sweep_.backends().kernels(), style));
    fail_on_problems();
    if (sweep_.stopped()) {
      return say_stopped(fmt::format("{} of {} variants were measured", measured, sweep_.total()));
    }
    return comparison ? status_of(*comparison) : 0;
  }

 private:
  void measure() {
    Progress progress{options_.progress};
    watch_stop_signals();
    while (!sweep_.ended()) {
      if (stop_requested()) {
        sweep_.stop();
      } else if (sweep_.tick()) {
        std::this_thread::sleep_for(nap);
      }
      if (!report_ && sweep_.first_status()) start_report();
      if (report_) report_->update();
      progress.show_left(sweep_.left_s(), sweep_.present());
    }
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
  if (options.kernels.automatic) {
    const std::vector<Variant> chosen = choose(backends, options);
    return Bench{
        backends, options, std::move(baselines), {.variants = {chosen.front()}, .skipped = {}, .notes = {}}, chosen}
        .run();
  }
  VariantPlan plan = expand(backends, options.kernels, options.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty()) throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
  return Bench{backends, options, std::move(baselines), std::move(plan), {}}.run();
}

}  // namespace orrery
