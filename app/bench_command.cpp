#include "app/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/bench_report.h"
#include "app/measure.h"
#include "app/progress.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

/// Expected seconds of work, from what the kernels measured so far took for an interaction.
class Forecast {
 public:
  explicit Forecast(const BenchOptions& options) : steps_{options.warmup_steps + options.repeats} {}

  void learn(const KernelInfo& kernel, int count, double step_ms) { rates_[&kernel] = step_ms / 1e3 / pairs(count); }
  double seconds(const KernelInfo& kernel, int count, double share = 1) const {
    const double least = 0.02 * steps_;  // a repeat lasts at least 20 ms
    return share * std::max(least, steps_ * rate(kernel) * pairs(count));
  }

 private:
  static double pairs(int count) { return static_cast<double>(count) * count; }
  /// That of the kernel itself, else the mean of its backend, else a guess of a core's or a GPU's speed.
  double rate(const KernelInfo& kernel) const {
    if (const auto known = rates_.find(&kernel); known != rates_.end()) return known->second;
    double sum = 0;
    int peers = 0;
    for (const auto& [other, seconds] : rates_) {
      if (other->backend == kernel.backend) sum += seconds, ++peers;
    }
    return peers > 0 ? sum / peers : kernel.backend == Backend::cpu ? 1e-9 : 1e-12;
  }

  int steps_;
  std::map<const KernelInfo*, double> rates_;
};

/// "block=256 n=16384"
std::string label(const Variant& variant, int count) {
  const std::string settings = variant.settings.to_string();
  return fmt::format("{}{}n={}", settings, settings.empty() ? "" : " ", count);
}

class Bench {
 public:
  Bench(const BenchOptions& options, VariantPlan plan)
      : options_{options}, plan_{std::move(plan)}, forecast_{options}, progress_{options.progress} {}

  int run() {
    for (std::size_t i = 0; i < options_.counts.size(); ++i) {
      left_counts_.assign(options_.counts.begin() + static_cast<std::ptrdiff_t>(i) + 1, options_.counts.end());
      run_count(options_.counts[i]);
    }
    progress_.clear();
    if (!report_ || measured_ == 0) std::rethrow_exception(first_failure_);
    fmt::print("{}", report_->finish(plan_.skipped));
    if (!report_->error().empty()) throw std::runtime_error(report_->error());
    if (run_time_failure_) std::rethrow_exception(run_time_failure_);
    return 0;
  }

 private:
  /// Runs `action`; what it throws makes an entry in the list of what was skipped.
  void attempt(const std::string& kernel, const std::string& settings, auto&& action) {
    const auto skip = [&](const std::exception& error) {
      if (!first_failure_) first_failure_ = std::current_exception();
      plan_.skipped.push_back({kernel, settings, error.what()});
    };
    try {
      action();
    } catch (const UsageError& error) {
      skip(error);
    } catch (const std::exception& error) {
      skip(error);
      if (!run_time_failure_) run_time_failure_ = std::current_exception();
    }
  }

  void run_count(int count) {
    SceneRequest request = options_.scene;
    request.count = count;
    std::optional<Simulation> simulation;
    attempt("all kernels", fmt::format("n={}", count), [&] {
      simulation.emplace(request);
      for (const Command& command : options_.setup) simulation->apply(command);
    });
    if (!simulation) return;
    const Status first = simulation->status();
    if (!report_) report_.emplace(options_, first);
    progress_.show(0, fmt::format("n={}: reference forces", first.count));
    const ForceSample sample{simulation->bodies().positions, first.law};
    for (std::size_t i = 0; i < plan_.variants.size(); ++i) {
      const Variant& variant = plan_.variants[i];
      const std::string settings = label(variant, first.count);
      std::optional<Measurement> result;
      attempt(variant.kernel->id, settings, [&] { result = measure(*simulation, sample, i); });
      if (!result) continue;
      ++measured_;
      report_->add(*result);
    }
  }

  Measurement measure(Simulation& simulation, const ForceSample& sample, std::size_t index) {
    const Variant& variant = plan_.variants[index];
    show(index, simulation.status().count, 1);
    simulation.apply(Reset{});
    simulation.apply(variant.command());
    Measurement result{.status = simulation.status(), .repeats = options_.repeats};
    result.error = sample.error(simulation.accelerations());
    if (options_.warmup_steps > 1) simulation.run(1);  // alone: the first step is the slowest
    const double pilot_ms = simulation.run(std::max(options_.warmup_steps - 1, 1)).step_ms;
    result.steps_a_repeat = steps_for_a_repeat(pilot_ms);
    forecast_.learn(*variant.kernel, result.status.count, pilot_ms);
    std::vector<double> step_ms;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      show(index, result.status.count, 1 - static_cast<double>(repeat) / options_.repeats);
      step_ms.push_back(simulation.run(result.steps_a_repeat).step_ms);
    }
    result.step_ms = summarize(step_ms);
    result.interactions_per_s = result.status.interactions_per_step / (result.step_ms.median / 1e3);
    forecast_.learn(*variant.kernel, result.status.count, result.step_ms.median);
    return result;
  }

  /// `share` is the part of variant `index` that is still to do.
  void show(std::size_t index, int count, double share) {
    double left = forecast_.seconds(*plan_.variants[index].kernel, count, share);
    for (std::size_t i = index + 1; i < plan_.variants.size(); ++i)
      left += forecast_.seconds(*plan_.variants[i].kernel, count);
    for (const int later : left_counts_) {
      for (const Variant& variant : plan_.variants) left += forecast_.seconds(*variant.kernel, later);
    }
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const Variant& variant = plan_.variants[index];
    progress_.show(elapsed / (elapsed + left), fmt::format("{} {}", variant.kernel->id, label(variant, count)));
  }

  const BenchOptions& options_;
  VariantPlan plan_;
  Forecast forecast_;
  Progress progress_;
  std::optional<BenchReport> report_;
  std::vector<int> left_counts_;
  int measured_ = 0;
  std::exception_ptr first_failure_, run_time_failure_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

int run_bench(const BenchOptions& options) {
  VariantPlan plan = expand(options.kernels, options.axes);
  for (const std::string& note : plan.notes) fmt::print(stderr, "note: {}\n", note);
  if (plan.variants.empty()) throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
  return Bench{options, std::move(plan)}.run();
}

}  // namespace orrery
