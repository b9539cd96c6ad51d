// The candidates of `auto`: search for their settings, accuracy trials, and times.
#include "app/lab/tuning/candidates.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/lab/sampling.h"
#include "app/lab/variants.h"
#include "app/text/parse_value.h"
#include "compute/core/text.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {
namespace {

constexpr double close_enough = 0.92;  // fraction of the target error that ends a search

// Assumed range of the errors over all settings, in decades, used before trials show the slope.
constexpr double decades_of_error = 4;

// Maximum distance between two trials, as a fraction of the settings' logarithmic span. Beyond the last trial, a
// setting may be slower than a direct sum by orders of magnitude.
constexpr double longest_move = 0.25;

/// A trial with a finite error.
struct LogPoint {
  double setting, error;  // natural logarithms of both
};

class Bracket {
 public:
  Bracket(std::span<const double> settings, double target)
      : settings_{settings},
        aim_{std::log(target * std::sqrt(close_enough))},
        span_{std::max(std::log(settings.back() / settings.front()), 1e-9)},
        fails_{settings.size()} {}

  void add(std::size_t index, double error, bool meets) {
    const double log_error = std::log(error);
    std::optional<LogPoint>& own = meets ? below_ : above_;
    std::optional<LogPoint>& other = meets ? above_ : below_;
    (meets ? meets_ : fails_) = index + (meets ? 1 : 0);
    at_ = std::log(settings_[index]);
    // Illinois rule: if one end stays twice, halve its distance from the aim, so that it moves, too.
    if (last_met_ == meets && other) other->error = (other->error + aim_) / 2;
    last_met_ = meets;
    if (!std::isfinite(log_error)) {
      own.reset();
      return;
    }
    const LogPoint point{at_, log_error};
    if (last_) slope_ = (point.error - last_->error) / (point.setting - last_->setting);
    own = last_ = point;
  }

  bool empty() const { return meets_ >= fails_; }
  /// Returns the next setting to try, between those known to meet the target and those known to fail.
  std::size_t next() const {
    if (below_ && above_ && below_->error < above_->error) {
      const double slope = (above_->error - below_->error) / (above_->setting - below_->setting);
      return index_at(below_->setting + (aim_ - below_->error) / slope);
    }
    if (meets_ > 0 && fails_ < settings_.size()) return meets_ + (fails_ - meets_) / 2;
    const double farthest = longest_move * span_;
    double move = meets_ > 0 ? farthest : -farthest;
    if (last_ && last_->setting == at_) {
      const double usual = decades_of_error * std::log(10) / span_;
      move = std::clamp((aim_ - last_->error) / (slope_ > 0 ? slope_ : usual), -farthest, farthest);
    }
    return index_at(at_ + move);
  }
  std::optional<std::size_t> largest() const { return meets_ > 0 ? std::optional{meets_ - 1} : std::nullopt; }

 private:
  std::size_t index_at(double log_setting) const {
    const double setting = std::exp(log_setting) * (1 + 1e-9);
    const auto above = std::ranges::upper_bound(settings_, setting);
    const auto index = static_cast<std::size_t>(above - settings_.begin());
    return std::clamp(index > 0 ? index - 1 : 0, meets_, fails_ - 1);
  }

  std::span<const double> settings_;
  double aim_, span_;
  std::size_t meets_ = 0;  // one past the largest index that meets the target
  std::size_t fails_;      // the smallest index that fails
  double at_ = 0;          // logarithm of the latest setting tried
  double slope_ = 0;       // between the latest two points; <= 0: not known
  std::optional<LogPoint> last_, below_, above_;
  std::optional<bool> last_met_;
};

// A tree that is faster than this fraction of a direct sum's forecast wins: direct sums that need a trial get none.
constexpr double worth_a_trial = 0.25;

// A tree that is slower than the direct sum's forecast loses, as do its more accurate settings. A trial's step includes
// memory allocation, so only steps above this time are judged.
constexpr double slow_ms = 20;

void rule_out(Candidate& candidate, const std::string& why) {
  candidate.problem = {.text = one_line(why), .refused = true};
}

class Trials {
 public:
  Trials(std::vector<Candidate>& candidates, const TryAccuracy& try_one, const TrialLimits& limits)
      : candidates_{candidates}, try_one_{try_one}, limits_{limits}, target_{largest_median_error(limits.accuracy)} {}

  void run() {
    for (const auto kind : {&Trials::is_tree, &Trials::is_direct_sum, &Trials::has_faster}) {
      for (Candidate& candidate : candidates_) {
        if (!kind(*candidate.variant.kernel)) continue;
        if (Problem failure = problem_of([&] { settle(candidate); })) candidate.problem = std::move(failure);
        if (candidate.problem) candidate.step_ms = 0;
      }
    }
    const bool any = std::ranges::any_of(candidates_, [](const Candidate& each) { return !each.problem; });
    for (Candidate& candidate : candidates_) {
      const bool inaccurate = candidate.problem.refused && candidate.error;
      if (!any && inaccurate && candidate.variant.kernel->full_fp32) candidate.problem = {};
    }
  }

 private:
  static bool is_tree(const KernelInfo& kernel) { return kernel.is_tree; }
  static bool is_direct_sum(const KernelInfo& kernel) { return !kernel.is_tree && !kernel.faster; }
  static bool has_faster(const KernelInfo& kernel) { return !kernel.is_tree && kernel.faster; }

  bool needs_trial(const KernelInfo& kernel) const {
    return !kernel.full_fp32 || (limits_.accuracy > 0 && !(kernel.tolerance.median <= target_));
  }

  void settle(Candidate& candidate) {
    const KernelInfo& kernel = *candidate.variant.kernel;
    if (kernel.is_tree) return search_tree(candidate);
    if (const Candidate* faster = faster_than(kernel)) {
      return rule_out(candidate, words_for(faster->variant) + " is accurate enough and faster");
    }
    if (!needs_trial(kernel)) return;
    if (fastest_tree_ && fastest_tree_->step_ms < worth_a_trial * limits_.direct_ms) {
      return rule_out(candidate, words_for(fastest_tree_->variant) + " is accurate enough and faster");
    }
    candidate.error = try_one_(candidate.variant).error;
    if (!meets(candidate, limits_.accuracy)) rule_out_inaccurate(candidate);
  }

  const Candidate* faster_than(const KernelInfo& kernel) const {
    if (!kernel.faster) return nullptr;
    const auto found = std::ranges::find_if(candidates_, [&](const Candidate& each) {
      return !each.problem && std::string_view{each.variant.kernel->id} == kernel.faster;
    });
    return found == candidates_.end() ? nullptr : &*found;
  }

  /// The first search among a tree's candidates that begin with the same value.
  struct Search {
    double start;
    const Candidate* result;
    int trials = 0;
  };

  void search_tree(Candidate& tree) {
    const KernelInfo& kernel = *tree.variant.kernel;
    const Tunable* tunable = kernel.accuracy_tunable();
    const auto value_of = [&](const Candidate& candidate) {
      return tunable ? parsed_number<double>(candidate.variant.settings.text(tunable->name)).value_or(0) : 0;
    };
    const double start = value_of(tree);
    double first = start;
    int trials_left = most_setting_trials;
    for (const Search& search : searches_) {
      const Candidate& other = *search.result;
      if (!same_kernel(*other.variant.kernel, kernel)) continue;
      if (search.start == start) {
        if (other.problem) return rule_out(tree, other.problem.text);
        search_from(tree, tunable, value_of(other), most_further_trials);
        return;
      }
      if (!other.problem && value_of(other) > start) {
        return rule_out(tree, words_for(other.variant) + " is accurate enough: this is for less");
      }
      first = std::min(first, value_of(other));
      trials_left -= search.trials;
    }
    if (trials_left <= 0) return rule_out(tree, "the evaluations of this tree's search are spent");
    searches_.push_back({.start = start, .result = &tree});
    searches_.back().trials = search_from(tree, tunable, first, trials_left);
  }

  /// Searches from the value `first`. Returns the number of trials.
  int search_from(Candidate& tree, const Tunable* tunable, double first, int most_trials) {
    std::vector<double> values{1};  // one trial as is, if the tree has no such setting
    if (tunable) values = two_digit_numbers(*tunable->numbers);
    const auto with_value = [&](std::size_t index) {
      Variant variant = tree.variant;
      if (tunable) variant.settings.set(tunable->name, shortest_text(values[index]));
      return variant;
    };
    std::map<std::size_t, AccuracyTrial> trials;
    const auto try_value = [&](std::size_t index) {
      const AccuracyTrial trial = trials[index] = try_one_(with_value(index));
      const bool warm = trials.size() > 1;
      const bool slow = warm && limits_.direct_ms > 0 && trial.step_ms > std::max(slow_ms, limits_.direct_ms);
      return SettingTrial{deciding_error(trial.error), slow};
    };
    const auto first_index = static_cast<std::size_t>(std::ranges::lower_bound(values, first) - values.begin());
    const std::optional<std::size_t> found = search_setting(values, first_index, target_, most_trials, try_value);
    const int tried = static_cast<int>(trials.size());
    const auto& [index, trial] = found ? *trials.find(*found) : *trials.begin();
    tree.variant = with_value(index);
    tree.error = trial.error;
    if (!found) {
      rule_out_inaccurate(tree);
      return tried;
    }
    if (!(trial.step_ms > 0 && std::isfinite(trial.step_ms))) return tried;
    tree.step_ms = trial.step_ms;
    if (!fastest_tree_ || tree.step_ms < fastest_tree_->step_ms) fastest_tree_ = &tree;
    return tried;
  }

  /// Returns max(median, p99 * median limit / p99 limit): both errors as one median error. NaN stays NaN.
  double deciding_error(const ForceError& error) const {
    const double of_p99 = error.p99 * (target_ / largest_p99_error(limits_.accuracy));
    return error.median >= of_p99 || std::isnan(error.median) ? error.median : of_p99;
  }

  void rule_out_inaccurate(Candidate& candidate) const {
    const bool by_median = !(candidate.error->median <= target_);
    rule_out(candidate,
             by_median
                 ? fmt::format("median error {:.2g}, above {:.2g}, which is {:g} % of the accuracy",
                               candidate.error->median, target_, 100 * accuracy_margin)
                 : fmt::format("p99 of the error {:.2g}, above {:.2g}, which is {:g} % of {:g} times the accuracy",
                               candidate.error->p99, largest_p99_error(limits_.accuracy), 100 * p99_margin,
                               p99_over_accuracy));
  }

  std::vector<Candidate>& candidates_;
  const TryAccuracy& try_one_;
  const TrialLimits limits_;
  const double target_;
  std::vector<Search> searches_;
  const Candidate* fastest_tree_ = nullptr;  // among the trees that meet the accuracy
};

constexpr double hopeless = 1.25;  // candidates slower than this multiple of the fastest pilot are not measured again
constexpr double tie = 1.02;

/// A batch under 0.5 ms would measure the timer rather than the kernel. One step of 100 ms or more is enough. A sample
/// is a candidate's batch in one round. The fastest sample counts, since other load only slows steps down.
Sampling sampling_of(int pilots) {
  return {.warmup_steps = 1,
          .pilots = pilots,
          .pilot_ms = 0.5,
          .slow_ms = 100,
          .sample_ms = 5,
          .most_steps = 200,
          .equal_samples = false,
          .samples = 3};
}

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

double fastest(const std::vector<Candidate>& candidates) {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    if (candidate.step_ms > 0) best = std::min(best, candidate.step_ms);
  }
  return best;
}

/// Measures one batch. A candidate that fails once is ruled out.
void measure_batch(Candidate& candidate, Sampler& sampler, const MeasureSteps& measure) {
  candidate.problem = problem_of([&] {
    const int steps = sampler.next_steps();
    const double ms = measure(candidate.variant, steps);
    if (!is_time(ms)) throw std::runtime_error("its time could not be measured");
    sampler.add(steps, ms);
  });
  candidate.step_ms = candidate.problem ? 0 : sampler.fastest_step_ms();
}

struct Limits {
  int first_count, most_count;  // number of bodies for direct sums: minimum and maximum
  int fewest_for_trees;         // and other approximations; a power of 2, at which a range of tuning_key() begins
  double budget_s;
};

constexpr Limits cpu_limits{.first_count = 2048, .most_count = 8192, .fewest_for_trees = 2048, .budget_s = 0.35};
constexpr Limits cuda_limits{.first_count = 16'384, .most_count = 131'072, .fewest_for_trees = 8192, .budget_s = 0.2};
constexpr int steps_per_candidate = 9;  // assumed in a tuning run
constexpr int error_sample = 1024;      // number of bodies

const Limits& limits_of(Backend backend) {
  return backend == Backend::cuda ? cuda_limits : cpu_limits;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr float still_dt = 1e-6f;  // small: bodies hardly move, so that all steps are alike

void make_still(Simulation& simulation, const Law& law) {
  simulation.apply(SelectLaw{law_info(law.id).id});
  simulation.apply(SetSoftening{law.softening});
  simulation.apply(SetRepulsion{law.repulsion});
  simulation.apply(SetDrag{law.drag});
  simulation.apply(SetTimeStep{still_dt});
}

void vary_masses(Simulation& simulation) {
  Bodies bodies = simulation.bodies();
  for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].w *= 2;
  simulation.set_bodies(bodies);
}

/// Makes a runner that steps `system` itself, which must outlive the runner.
VariantRunner system_runner(const Backends& backends, const ForceSystem& system, const std::stop_token& stop) {
  return {backends,
          {.scene = "plummer", .count = 1},
          [&system](Simulation& simulation) {
            make_still(simulation, system.law);
            simulation.set_bodies(system.bodies);
          },
          stop};
}

/// Makes a runner that steps a star cluster.
VariantRunner cluster_runner(const Backends& backends, const KernelDemand& demand, const std::stop_token& stop) {
  return {backends,
          {.scene = "plummer", .count = demand.count},
          [demand](Simulation& simulation) {
            make_still(simulation, {.id = demand.law, .softening = simulation.status().law.softening});
            if (!demand.equal_masses) vary_masses(simulation);
          },
          stop};
}

/// Returns the number of warm-up batches: 2 beside a window, as drawing may disturb one short batch, but hardly two.
int pilots_for(const KernelDemand& demand) {
  return demand.beside_drawing ? 2 : 1;
}

KernelDemand with_count(KernelDemand demand, int count) {
  demand.count = count;
  return demand;
}

/// Returns at most `most` of the bodies, evenly spaced by index.
Bodies thinned(const Bodies& bodies, int most) {
  const auto count = static_cast<std::size_t>(bodies.count());
  const std::size_t stride = (count + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  Bodies some;
  for (std::size_t i = 0; i < count; i += stride) {
    some.positions.push_back(bodies.positions[i]);
    some.velocities.push_back(bodies.velocities[i]);
  }
  return some;
}

/// Runs one trial with a single evaluation, as each may take long.
AccuracyTrial try_variant(VariantRunner& runner, const Variant& variant) {
  runner.select(variant);
  Simulation& simulation = *runner.simulation();
  simulation.apply(SelectIntegrator{"euler"});
  simulation.apply(ProbeForces{error_sample});
  const double ms = runner.run(1).step_ms;
  const std::optional<ForceProbe> probe = simulation.status().force_probe;
  simulation.apply(SelectIntegrator{"leapfrog"});
  if (!probe) throw std::runtime_error("its error could not be measured");
  return {.error = probe->error, .step_ms = ms};
}

/// Returns the time of a step with `limits.first_count` bodies, in ms, by the first direct sum that runs. Returns 0 if
/// none runs, or if the system has no more bodies than that.
double pilot_ms(const Backends& backends, const std::vector<Variant>& candidates, const KernelDemand& demand,
                const Limits& limits, const std::stop_token& stop) {
  if (demand.count <= limits.first_count) return 0;
  for (const Variant& variant : candidates) {
    if (variant.kernel->is_tree || variant.kernel->faster) continue;
    VariantRunner cluster = cluster_runner(backends, with_count(demand, limits.first_count), stop);
    std::vector<Candidate> pilot{{variant}};
    run_tuning(
        pilot, [&](const Variant& each, int steps) { return cluster.step_ms(each, steps); }, seconds,
        /*budget_s=*/0, pilots_for(demand));
    if (pilot.front().step_ms > 0) return pilot.front().step_ms;
  }
  return 0;
}

/// Returns the largest number of bodies for which a direct sum's step fits into its share of the time budget.
int affordable_count(double pilot_ms, std::size_t direct_sums, const KernelDemand& demand, const Limits& limits) {
  const int most = std::min(demand.count, limits.most_count);
  if (most <= limits.first_count) return most;
  if (!(pilot_ms > 0)) return limits.first_count;
  const double share_ms = limits.budget_s * 1e3 / (steps_per_candidate * static_cast<double>(direct_sums));
  const double count = limits.first_count * std::sqrt(share_ms / pilot_ms);
  return static_cast<int>(std::clamp<double>(count, limits.first_count, most));
}

/// Measures the candidates. Times of direct sums with `measured_count` bodies are scaled to the result's count.
void tune(const Backends& backends, TuningResult& result, int measured_count, const KernelDemand& demand,
          const ForceSystem& system, double budget_s, const std::stop_token& stop) {
  VariantRunner cluster = cluster_runner(backends, with_count(demand, measured_count), stop);
  VariantRunner real = system_runner(backends, system, stop);
  const double growth = static_cast<double>(result.count) / measured_count;
  run_tuning(
      result.candidates,
      [&](const Variant& variant, int steps) {
        if (variant.kernel->is_tree) return real.step_ms(variant, steps);
        return cluster.step_ms(variant, steps) * growth * growth;
      },
      seconds, budget_s, pilots_for(demand));
  if (measured_count == result.count) return;
  for (Candidate& candidate : result.candidates) {
    if (!candidate.variant.kernel->is_tree) candidate.forecast_from = measured_count;
  }
}

}  // namespace

std::vector<double> two_digit_numbers(const Range<double>& range) {
  std::vector<double> numbers;
  const int least = static_cast<int>(std::floor(std::log10(range.least))) - 1;
  const int most = static_cast<int>(std::floor(std::log10(range.most)));
  for (int exponent = least; exponent <= most; ++exponent) {
    for (int digits = 10; digits < 100; ++digits) {
      const double number = parsed_number<double>(fmt::format("{}e{}", digits, exponent)).value();
      if (range.contains(number)) numbers.push_back(number);
    }
  }
  return numbers;
}

std::optional<std::size_t> search_setting(std::span<const double> settings, std::size_t first, double target,
                                          int most_trials,
                                          const std::function<SettingTrial(std::size_t index)>& try_setting) {
  Bracket bracket{settings, target};
  std::size_t index = std::min(first, settings.size() - 1);
  for (int trial = 1;; ++trial) {
    const auto [error, slow] = try_setting(index);
    const bool meets = error <= target;
    bracket.add(index, error, meets);
    const bool done = meets ? error >= close_enough * target : slow;
    if (done || bracket.empty() || trial == most_trials) return bracket.largest();
    index = bracket.next();
  }
}

std::string words_for(const Variant& variant) {
  return words_for(*variant.kernel, variant.settings);
}

bool meets(const Candidate& candidate, double accuracy) {
  return candidate.error && candidate.error->median <= largest_median_error(accuracy) &&
         candidate.error->p99 <= largest_p99_error(accuracy);
}

std::string error_words(const ForceError& error) {
  return fmt::format("median error {:.2g}, p99 {:.2g}, maximum {:.2g}", error.median, error.p99, error.max);
}

void try_accuracy(std::vector<Candidate>& candidates, const TryAccuracy& try_one, const TrialLimits& limits) {
  Trials{candidates, try_one, limits}.run();
}

std::vector<std::size_t> TuningResult::preference() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].step_ms > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return candidates[i].step_ms; });
  const double enough_ms = tie * fastest(candidates);
  const auto others = std::ranges::find_if(order, [&](std::size_t i) { return !(candidates[i].step_ms <= enough_ms); });
  const auto first = std::min_element(order.begin(), others);
  if (first != others) std::rotate(order.begin(), first, first + 1);
  return order;
}

void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots) {
  const double begin_s = now_s();
  Sampling sampling = sampling_of(pilots);
  std::vector<Sampler> samplers;
  for (const Candidate& candidate : candidates) {
    sampling.period = candidate.variant.settings.period();
    samplers.emplace_back(sampling, candidate.step_ms);
  }
  for (int pilot = 1; pilot <= pilots; ++pilot) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      while (!candidates[i].problem && samplers[i].warming_up() && samplers[i].pilots() < pilot) {
        measure_batch(candidates[i], samplers[i], measure);
      }
    }
  }
  const double limit_ms = hopeless * fastest(candidates);
  // Only whole rounds, so that all candidates get equally many samples.
  for (int round = 0; round < sampling.samples && now_s() - begin_s < budget_s; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool may_win = candidates[i].step_ms > 0 && candidates[i].step_ms <= limit_ms;
      if (may_win) measure_batch(candidates[i], samplers[i], measure);
    }
  }
}

int most_measured_bodies(Backend backend) {
  return limits_of(backend).most_count;
}

bool approximations_are_candidates(const KernelDemand& demand, Backend backend) {
  return demand.accuracy > 0 && demand.count >= limits_of(backend).fewest_for_trees;
}

std::vector<Variant> candidates_here(const Backends& backends) {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    if (!backends.status(backend).available) continue;
    std::vector<Variant> found;
    for (const KernelPtr& kernel : backends.kernels().all()) {
      if (kernel->backend != backend) continue;
      for (const char* text : kernel->candidates) {
        found.push_back({kernel, Settings{*kernel, Settings::values_of(text)}});
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

AccuracyTrials measure_accuracy(const Backends& backends, const std::vector<Variant>& candidates,
                                const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) {
  const double begin_s = seconds();
  const Backend backend = candidates.front().kernel->backend;
  const Limits& limits = limits_of(backend);
  AccuracyTrials trials;
  for (const Variant& variant : candidates) trials.candidates.push_back({variant});
  trials.pilot_ms = pilot_ms(backends, candidates, demand, limits, stop);
  const double growth = static_cast<double>(demand.count) / limits.first_count;
  VariantRunner runner = system_runner(backends, system, stop);
  Bodies few;
  const ForceSystem few_system{few, system.law};
  std::optional<VariantRunner> few_runner;
  try_accuracy(trials.candidates,
               [&](const Variant& variant) {
                 const bool all = !variant.kernel->full_fp32 || demand.count <= limits.most_count;
                 if (all) return try_variant(runner, variant);
                 if (!few_runner) {
                   few = thinned(system.bodies, limits.most_count);
                   few_runner.emplace(system_runner(backends, few_system, stop));
                 }
                 return try_variant(*few_runner, variant);
               },
               {.accuracy = approximations_are_candidates(demand, backend) ? demand.accuracy : 0,
                .direct_ms = trials.pilot_ms * growth * growth});
  trials.took_s = seconds() - begin_s;
  return trials;
}

TuningResult measure_candidates(const Backends& backends, const AccuracyTrials& trials, const KernelDemand& demand,
                                const ForceSystem& system, const std::stop_token& stop) {
  const Limits& limits = limits_of(trials.candidates.front().variant.kernel->backend);
  std::size_t direct_sums = 0;
  bool has_trees = false;
  for (const Candidate& candidate : trials.candidates) {
    has_trees |= candidate.variant.kernel->is_tree;
    direct_sums += !candidate.variant.kernel->is_tree && !candidate.problem;
  }
  const int measured_count = affordable_count(trials.pilot_ms, direct_sums, demand, limits);
  TuningResult result{.candidates = trials.candidates, .count = has_trees ? demand.count : measured_count};
  tune(backends, result, measured_count, demand, system, limits.budget_s - trials.took_s, stop);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  result.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return result;
}

}  // namespace orrery
