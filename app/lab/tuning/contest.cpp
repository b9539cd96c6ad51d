#include "app/lab/tuning/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include "app/text/lines.h"
#include "compute/core/error.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {
namespace {

constexpr double pilot_ms = 0.5;    // a shorter first batch says more of the clock than of the kernel
constexpr double batch_ms = 5;      // of the batches that decide
constexpr double most_steps = 200;  // of a batch
constexpr int rounds = 3;           // of them; the fastest counts, since whatever else runs here only slows down
constexpr double hopeless = 1.25;   // times the fastest pilot: not measured again
constexpr double tie = 1.02;
constexpr double slow_ms = 100;  // one evaluation tells of such a step, whatever came with the first

int steps_for(double ms, double step_ms) {
  const double steps = std::ceil(ms / step_ms);
  return steps >= 1 ? static_cast<int>(std::min(steps, most_steps)) : 1;
}

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

void rule_out(Contender& contender, const std::string& why) {
  contender.problem = one_line(why);
  contender.refused = true;
}

/// A contender that fails once is out: one that has a problem when the action ends.
template <class Action>
void attempt(Contender& contender, Action action) {
  try {
    action();
    if (contender.problem.empty()) return;
  } catch (const UsageError& error) {
    rule_out(contender, error.what());
  } catch (const std::bad_alloc&) {
    contender.problem = "not enough memory";
  } catch (const std::exception& error) {
    contender.problem = one_line(error.what());
  }
  contender.step_ms = 0;
}

/// Calls `measured` with the time of a step, unless there is none.
template <class Use>
void attempt_steps(Contender& contender, const MeasureSteps& measure, int steps, Use measured) {
  attempt(contender, [&] {
    const double ms = measure(contender.variant, steps);
    if (is_time(ms)) return measured(ms);
    contender.problem = "its time could not be measured";
  });
}

/// The shorter of its time until now and of one more short batch; `first` says that there is no time of such a batch.
void measure_pilot(Contender& contender, const MeasureSteps& measure, bool first) {
  if (!contender.problem.empty() || contender.step_ms >= slow_ms) return;
  if (first) {
    attempt_steps(contender, measure, 1, [&](double ms) { contender.step_ms = ms; });
    if (!(contender.step_ms > 0 && contender.step_ms < pilot_ms)) return;
  }
  attempt_steps(contender, measure, steps_for(pilot_ms, contender.step_ms),
                [&](double ms) { contender.step_ms = first ? ms : std::min(contender.step_ms, ms); });
}

double fastest(const std::vector<Contender>& contenders) {
  double best = std::numeric_limits<double>::infinity();
  for (const Contender& contender : contenders) {
    if (contender.step_ms > 0) best = std::min(best, contender.step_ms);
  }
  return best;
}

}  // namespace

std::vector<std::size_t> Contest::preference() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].step_ms > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return contenders[i].step_ms; });
  const double enough_ms = tie * fastest(contenders);
  const auto others = std::ranges::find_if(order, [&](std::size_t i) { return !(contenders[i].step_ms <= enough_ms); });
  const auto first = std::min_element(order.begin(), others);
  if (first != others) std::rotate(order.begin(), first, first + 1);
  return order;
}

std::string error_words(double median_error) {
  return fmt::format("median error {:.2g}", median_error);
}

void try_accuracy(std::vector<Contender>& contenders, const TryAccuracy& try_one, double accuracy,
                  bool spare_direct_sums) {
  std::map<std::string, std::string> trees;  // by kernel id, the settings that suffice
  const auto try_if_needed = [&](Contender& contender) {
    const KernelPtr& kernel = contender.variant.kernel;
    const bool spared = !kernel->is_tree && spare_direct_sums;
    if (const auto enough = spared ? trees.begin() : trees.find(kernel->id); enough != trees.end()) {
      return rule_out(contender, enough->second + " is accurate enough and less work");
    }
    const AccuracyTrial trial = try_one(contender.variant);
    contender.median_error = trial.median_error;
    if (!accurate_enough(trial.median_error, accuracy)) {
      return rule_out(contender, fmt::format("{}, above {:g}", error_words(trial.median_error), accuracy));
    }
    if (!kernel->is_tree) return;  // it is timed as all direct sums are
    if (is_time(trial.step_ms)) contender.step_ms = trial.step_ms;
    trees[kernel->id] = words_for(*kernel, contender.variant.settings);
  };
  for (const bool is_tree : {true, false}) {
    for (Contender& contender : contenders) {
      const KernelInfo& kernel = *contender.variant.kernel;
      if (!kernel.full_fp32 && kernel.is_tree == is_tree) attempt(contender, [&] { try_if_needed(contender); });
    }
  }
}

void hold_contest(std::vector<Contender>& contenders, const MeasureSteps& measure, const std::function<double()>& now_s,
                  double budget_s, int pilots) {
  const double begin_s = now_s();
  for (int pilot = 0; pilot < pilots; ++pilot) {
    for (Contender& contender : contenders) measure_pilot(contender, measure, pilot == 0);
  }
  const double limit_ms = hopeless * fastest(contenders);
  std::vector<double> best;
  for (const Contender& contender : contenders) {
    const bool counts = contender.step_ms >= batch_ms;  // a shorter one was no batch of this length
    best.push_back(counts ? contender.step_ms : std::numeric_limits<double>::infinity());
  }
  // Whole rounds, so that all have as many chances.
  for (int round = 0; round < rounds && now_s() - begin_s < budget_s; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[i];
      if (!(contender.step_ms > 0 && contender.step_ms <= limit_ms)) continue;
      attempt_steps(contender, measure, steps_for(batch_ms, contender.step_ms),
                    [&](double ms) { contender.step_ms = best[i] = std::min(best[i], ms); });
    }
  }
}

}  // namespace orrery
