#include "app/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "app/bench_report.h"
#include "app/forecast.h"
#include "app/measure.h"
#include "app/progress.h"
#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

/// "block=256 n=16384"
std::string label(const Variant& variant, int count) {
  const std::string settings = variant.settings.to_string();
  return fmt::format("{}{}n={}", settings, settings.empty() ? "" : " ", count);
}

class Bench {
 public:
  Bench(const BenchOptions& options, VariantPlan plan)
      : options_{options}, plan_{std::move(plan)}, progress_{options.progress} {}

  int run() {
    for (std::size_t i = 0; i < options_.counts.size(); ++i) {
      left_counts_.assign(options_.counts.begin() + static_cast<std::ptrdiff_t>(i) + 1, options_.counts.end());
      run_count(options_.counts[i]);
    }
    progress_.clear();
    if (measured_ == 0) {
      if (report_) report_->discard();
      std::rethrow_exception(first_failure_);
    }
    fmt::print("{}", report_->finish(plan_.skipped));
    if (!report_->error().empty()) throw std::runtime_error(report_->error());
    if (failure_) std::rethrow_exception(failure_);
    if (!not_finite_.empty()) throw std::runtime_error("forces that are not finite: " + joined(not_finite_));
    return 0;
  }

 private:
  /// Runs `action`; what it throws makes an entry in the list of what was skipped, and is a failure of the whole unless
  /// it is a refusal that is `expected`.
  void attempt(const std::string& kernel, const std::string& settings, bool expected, auto&& action) {
    const auto skip = [&](const std::exception& error) {
      if (!first_failure_) first_failure_ = std::current_exception();
      plan_.skipped.push_back({kernel, settings, error.what()});
    };
    try {
      action();
    } catch (const UsageError& error) {
      skip(error);
      if (!expected && !failure_) failure_ = std::current_exception();
    } catch (const std::exception& error) {
      skip(error);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void run_count(int count) {
    SceneRequest request = options_.scene;
    request.count = count;
    std::optional<Simulation> simulation;
    attempt("all kernels", fmt::format("n={}", count), false, [&] {
      simulation.emplace(request, nullptr, *plan_.variants.front().kernel);
      for (const Command& command : options_.setup) simulation->apply(command);
    });
    if (!simulation) return;
    const Status first = simulation->status();
    if (!report_) report_.emplace(options_, first);
    progress_.show_left(std::nullopt, fmt::format("n={}: reference forces", first.count));
    const ForceSample sample{simulation->bodies().positions, first.law};
    forecast_.learn_reference(first.count, sample.seconds());
    for (std::size_t i = 0; i < plan_.variants.size(); ++i) {
      const Variant& variant = plan_.variants[i];
      const std::string settings = label(variant, first.count);
      std::optional<Measurement> result;
      attempt(variant.kernel->id, settings, true, [&] { result = measure(*simulation, sample, i); });
      if (!result) continue;
      ++measured_;
      if (!std::isfinite(result->error.max)) not_finite_.push_back(fmt::format("{} {}", variant.kernel->id, settings));
      report_->add(*result);
    }
  }

  /// Before anything is measured: one evaluation for the force error; one step, since the first is the slowest; and a
  /// pilot of the other warm-up steps, which says how many steps make a repeat.
  Measurement measure(Simulation& simulation, const ForceSample& sample, std::size_t index) {
    const Variant& variant = plan_.variants[index];
    show(index, simulation.status().count, 1);
    simulation.apply(Reset{});
    simulation.apply(variant.command());
    Measurement result{.status = simulation.status(), .repeats = options_.repeats};
    result.error = sample.error(simulation.accelerations());
    simulation.run(1);
    const double pilot_ms = simulation.run(made_warmup_steps(options_) - 1).step_ms;
    result.steps_a_repeat = steps_for_a_repeat(pilot_ms);
    forecast_.learn(*variant.kernel, result.status.count, pilot_ms / 1e3);
    std::vector<double> step_ms;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      show(index, result.status.count, 1 - static_cast<double>(repeat) / options_.repeats);
      step_ms.push_back(simulation.run(result.steps_a_repeat).step_ms);
    }
    result.step_ms = summarize(step_ms);
    result.interactions_per_s = result.status.interactions_per_step / (result.step_ms.median / 1e3);
    forecast_.learn(*variant.kernel, result.status.count, result.step_ms.median / 1e3);
    return result;
  }

  double expected_seconds(const Variant& variant, int count) const {
    const double least = 0.02 * options_.repeats;  // a repeat lasts at least 20 ms
    const int steps = made_warmup_steps(options_) + options_.repeats;
    return std::max(least, steps * forecast_.seconds(*variant.kernel, count));
  }

  /// `share` is the part of variant `index` that is still to do.
  void show(std::size_t index, int count, double share) {
    const Variant& variant = plan_.variants[index];
    double left = share * expected_seconds(variant, count);
    for (std::size_t i = index + 1; i < plan_.variants.size(); ++i) left += expected_seconds(plan_.variants[i], count);
    for (const int later : left_counts_) {
      left += forecast_.reference_seconds(later);
      for (const Variant& other : plan_.variants) left += expected_seconds(other, later);
    }
    progress_.show_left(left, fmt::format("{} {}", variant.kernel->id, label(variant, count)));
  }

  const BenchOptions& options_;
  VariantPlan plan_;
  Forecast forecast_;
  Progress progress_;
  std::optional<BenchReport> report_;
  std::vector<int> left_counts_;
  int measured_ = 0;
  std::exception_ptr first_failure_;  // of any kind
  std::exception_ptr failure_;        // the first that is one of the whole
  std::vector<std::string> not_finite_;
};

}  // namespace

int run_bench(const BenchOptions& options) {
  VariantPlan plan = expand(options.kernels, options.axes);
  for (const std::string& note : plan.notes) fmt::print(stderr, "note: {}\n", note);
  if (plan.variants.empty()) throw std::runtime_error("no kernel to measure: " + plan.skipped.front().reason);
  return Bench{options, std::move(plan)}.run();
}

}  // namespace orrery
