#include "app/cli/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/cli/auto_variants.h"
#include "app/cli/compile_kernel_files.h"
#include "app/cli/verify_report.h"
#include "app/lab/force_promise.h"
#include "app/lab/forecast.h"
#include "app/lab/variant_runner.h"
#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/text/progress.h"
#include "compute/core/text.h"
#include "compute/kernels/runtime/compiler_log.h"

namespace orrery {
namespace {

constexpr const char* serial_kernel = "cpu-serial";  // the digit test compares with it

class Verification {
 public:
  Verification(const Backends& backends, const VerifyOptions& options, const VariantPlan& plan)
      : backends_{backends}, options_{options}, plan_{plan}, progress_{options.progress}, forecast_{options.sample} {}

  int run() {
    std::exception_ptr failure;
    try {
      for (std::size_t i = 0; i < options_.counts.size(); ++i) check_count(i);
    } catch (...) {
      if (!report_ || report_->empty()) throw;
      failure = std::current_exception();  // what is known until here is still shown
    }
    progress_.clear();
    console::show(report_->finish(plan_.skipped, stdout_style(options_.table)));
    if (failure) std::rethrow_exception(failure);
    if (!report_->error().empty()) throw std::runtime_error(report_->error());
    return report_->failed() == 0 ? 0 : 1;
  }

 private:
  /// The expected results of one system under one law.
  struct Expected {
    Law law;
    float time_step;
    const ForceSample& sample;
    ForcePromise promise;
    std::vector<Vec4> positions;  // after the second step of the serial kernel; only for the digit test
  };

  Variant serial_variant() const {
    const KernelPtr kernel = backends_.kernels().find(serial_kernel);
    return {kernel, Settings{*kernel}};
  }

  void check_count(std::size_t index) {
    SceneRequest request = options_.scene;
    request.count = options_.counts[index];
    LawId law = options_.laws.front();
    VariantRunner runner{backends_, request, [this, &law](Simulation& fresh) {
                           for (const Command& command : options_.setup) fresh.apply(command);
                           if (options_.digits) fresh.apply(SelectIntegrator{"euler"});  // the source's
                           fresh.apply(SelectLaw{law_info(law).id});
                         }};
    const KernelPtr first_kernel = plan_.variants.empty() ? backends_.default_kernel() : plan_.variants.front().kernel;
    const Status& first = runner.simulation(first_kernel).status();
    if (!report_) report_.emplace(backends_, options_, first);
    count_ = first.count;
    left_counts_.assign(options_.counts.begin() + static_cast<std::ptrdiff_t>(index) + 1, options_.counts.end());
    const std::vector<Vec4> bodies = runner.simulation()->bodies().positions;
    left_laws_ = options_.laws.size();
    for (const LawId each : options_.laws) {
      law = each;
      Simulation& simulation = runner.simulation(first_kernel);
      simulation.apply(SelectLaw{law_info(law).id});
      --left_laws_;
      const std::vector<const Variant*> variants = variants_for(request, law);
      show("reference", plan_.variants.size(), true);
      const Status& system = simulation.status();
      const ForceSample sample{bodies, system.law, options_.sample};
      Expected expected{system.law, system.time_step, sample, {bodies, sample, system.law}, {}};
      forecast_.learn_reference(count_, expected.sample.seconds());
      if (options_.digits) {
        runner.select(serial_variant());
        expected.positions = positions_after_two_steps(runner);
      }
      for (std::size_t i = 0; i < variants.size(); ++i) {
        show(variants[i]->kernel->id, std::min(plan_.variants.size(), variants.size() - i), false);
        report_->add(check(runner, expected, *variants[i]));
      }
    }
  }

  /// The plan's, and in front the one that `auto` stands for, if that is asked for and is not among them.
  std::vector<const Variant*> variants_for(const SceneRequest& request, LawId law) {
    std::vector<const Variant*> variants;
    for (const Variant& variant : plan_.variants) variants.push_back(&variant);
    if (!options_.kernels.automatic) return variants;
    Commands setup = options_.setup;
    setup.push_back(SelectLaw{law_info(law).id});
    VariantPlan plan{plan_};
    add_auto_variant(plan, backends_, {.scene = request, .setup = setup, .accuracy = options_.accuracy});
    if (plan.variants.size() > variants.size()) {
      variants.insert(variants.begin(), &chosen_.emplace_back(plan.variants.front()));
    }
    return variants;
  }

  /// From the scene's first state. If a body becomes non-finite, the run stops and there are no such positions: all are
  /// NaN.
  static std::vector<Vec4> positions_after_two_steps(VariantRunner& runner) {
    runner.restart();
    try {
      runner.run(2);
      return runner.simulation()->bodies().positions;
    } catch (const std::exception&) {
      const Status& status = runner.simulation()->status();
      if (!status.non_finite) throw;
      constexpr float nan = std::numeric_limits<float>::quiet_NaN();
      return std::vector<Vec4>(static_cast<std::size_t>(status.count), Vec4{nan, nan, nan, nan});
    }
  }

  Check check(VariantRunner& runner, const Expected& expected, const Variant& variant) {
    Check check{.variant = variant,
                .count = count_,
                .law = expected.law,
                .time_step = expected.time_step,
                .sample = expected.sample.size()};
    const Problem problem = problem_of([&] {
      runner.select(variant);
      runner.restart();
      check_forces(*runner.simulation(), expected, check);
      if (options_.digits) check_digits(runner, expected, check);
    });
    const std::string text = variant.kernel->file_text ? in_plain_words(problem.text) : problem.text;
    if (problem) check.result = (problem.refused ? "skipped: " : "FAIL: ") + text;
    return check;
  }

  void check_forces(Simulation& simulation, const Expected& expected, Check& check) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Vec4> accelerations =
        simulation.accelerations(options_.sample_only ? expected.sample.targets() : std::span<const int>{});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    forecast_.learn(*check.variant.kernel, count_, taken.count());
    const ForceVerdict verdict =
        expected.promise.judge(*check.variant.kernel, check.variant.settings, accelerations, options_.sample_only);
    check.error = verdict.error;
    check.allowed = verdict.allowed;
    check.ulps = expected.sample.ulps(accelerations);
    const bool finite = std::isfinite(verdict.error.max) && check.ulps.not_finite == 0;
    check.result = !finite ? "FAIL" : verdict.failure.empty() ? "PASS" : "FAIL: " + verdict.failure;
  }

  static void check_digits(VariantRunner& runner, const Expected& expected, Check& check) {
    check.digits = wrong_digits(positions_after_two_steps(runner), expected.positions);
    if (check.digits->not_finite == 0) return;
    check.result = fmt::format("FAIL: {} coordinates are not finite after the second step", check.digits->not_finite);
  }

  /// Per check: the forces at the first state, and the two steps of the digit test.
  double evaluations() const { return options_.digits ? 3 : 1; }

  /// The time that checking the last `variants` of the plan once will take, in s.
  double seconds_of(std::size_t variants, int count) const {
    double sum = 0;
    for (std::size_t i = plan_.variants.size() - variants; i < plan_.variants.size(); ++i) {
      sum += evaluations() * forecast_.seconds(*plan_.variants[i].kernel, count);
    }
    return sum;
  }

  double reference_seconds(int count) const {
    const double serial = options_.digits ? 2 * forecast_.seconds(*backends_.kernels().find(serial_kernel), count) : 0;
    return forecast_.reference_seconds(count) + serial;
  }

  /// Left to do under the present law: the last `variants` of the plan, and the reference if `with_reference`.
  void show(const std::string& what, std::size_t variants, bool with_reference) {
    const auto seconds_per_law = [&](int count) {
      return reference_seconds(count) + seconds_of(plan_.variants.size(), count);
    };
    double left = seconds_of(variants, count_) + (with_reference ? reference_seconds(count_) : 0);
    left += static_cast<double>(left_laws_) * seconds_per_law(count_);
    for (const int later : left_counts_) left += static_cast<double>(options_.laws.size()) * seconds_per_law(later);
    progress_.show_left(left, fmt::format("{} n={}", what, format_count(count_)));
  }

  const Backends& backends_;
  const VerifyOptions& options_;
  const VariantPlan& plan_;
  Progress progress_;
  Forecast forecast_;
  std::optional<VerifyReport> report_;
  std::deque<Variant> chosen_;    // by `auto`; checks refer to them
  int count_ = 0;                 // bodies of the present system
  std::vector<int> left_counts_;  // after it
  std::size_t left_laws_ = 0;     // after the present one, of the present system
};

}  // namespace

int run_verify(const Backends& backends, const VerifyOptions& options) {
  for (const KernelPtr& kernel : options.kernels.kernels) {
    if (!kernel->file_text) continue;
    compile_settings(backends, options.each_value ? each_value_of({kernel, Settings{*kernel}})
                                                  : every_combination(kernel, options.axes));
  }
  const VariantPlan plan = options.each_value ? expand_each_value(backends, options.kernels)
                                              : expand(backends, options.kernels, options.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty() && !options.kernels.automatic)
    throw std::runtime_error("no kernel to verify: " + plan.skipped.front().reason);
  return Verification{backends, options, plan}.run();
}

}  // namespace orrery
