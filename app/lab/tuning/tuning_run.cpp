#include "app/lab/tuning/tuning_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "app/lab/sampling.h"

namespace orrery {
namespace {

constexpr double hopeless = 1.25;  // times the fastest pilot: not measured again
constexpr double tie = 1.02;

/// A batch shorter than 0.5 ms measures the clock rather than the kernel. Of a step of 100 ms, one is enough. A sample
/// is a candidate's batch in one round; the fastest counts, since whatever else runs here only slows down.
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

/// A candidate that fails once is out.
void measure_batch(Candidate& candidate, Sampler& sampler, const MeasureSteps& measure) {
  candidate.problem = problem_of([&] {
    const int steps = sampler.next_steps();
    const double ms = measure(candidate.variant, steps);
    if (!is_time(ms)) throw std::runtime_error("its time could not be measured");
    sampler.add(steps, ms);
  });
  candidate.step_ms = candidate.problem ? 0 : sampler.fastest_step_ms();
}

double fastest(const std::vector<Candidate>& candidates) {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    if (candidate.step_ms > 0) best = std::min(best, candidate.step_ms);
  }
  return best;
}

}  // namespace

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
  // Whole rounds, so that all have as many chances.
  for (int round = 0; round < sampling.samples && now_s() - begin_s < budget_s; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool may_win = candidates[i].step_ms > 0 && candidates[i].step_ms <= limit_ms;
      if (may_win) measure_batch(candidates[i], samplers[i], measure);
    }
  }
}

}  // namespace orrery
