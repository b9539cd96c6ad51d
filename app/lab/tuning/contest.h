#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/kernel_axes.h"

namespace orrery {

/// One that may be chosen, and how it did.
struct Contender {
  Variant variant;
  double step_ms = 0;     ///< of one step; 0: not measured
  std::string problem{};  ///< why it was not measured, one line
  bool refused = false;   ///< it is out of the question here, as opposed to a failure
  int forecast_from = 0;  ///< bodies with which step_ms was measured, then scaled to all by n^2; 0: all of them
  std::optional<double> median_error{};  ///< |da|/|a| where not full_fp32, of the system that it was tried with last
};

/// Contenders, those of them that are not full_fp32 tried with one system.
struct Trials {
  std::vector<Contender> contenders;
  double took_s = 0;
};

/// What a choice stands on.
struct Contest {
  std::vector<Contender> contenders;  ///< those to prefer first
  int count = 0;                      ///< bodies that the times are of
  std::string date{};                 ///< when, in UTC

  /// Indices of those that were measured: first the one to choose, which is the first in order of all that take no
  /// more than 2 % longer than the fastest, so that choices do not follow the noise; then the others by their times.
  std::vector<std::size_t> preference() const;
};

/// What one evaluation showed.
struct AccuracyTrial {
  double median_error;  ///< |da|/|a| against fp64; NaN fails
  double step_ms;       ///< of one step, the first, which also takes memory and warms up
};
/// Throws what the contender fails with: UsageError where it cannot run here.
using TryAccuracy = std::function<AccuracyTrial(const Variant& contender)>;

/// Tries the contenders that are not full_fp32, first each tree's in order until one is accurate enough: those behind
/// it are more accurate still, and slower. Then the direct sums, which with `spare_direct_sums` are out where a tree is
/// accurate enough. What is not accurate enough is out. Never throws what a contender fails with.
void try_accuracy(std::vector<Contender>& contenders, const TryAccuracy& try_one, double accuracy,
                  bool spare_direct_sums);
/// Whether a median error is at most `accuracy`. NaN is not.
inline bool accurate_enough(double median_error, double accuracy) {
  return median_error <= accuracy;
}
/// "median error 0.00041".
std::string error_words(double median_error);

/// What one step takes in ms, from a batch of `steps` steps. Throws what the contender fails with: UsageError where
/// it cannot run here.
using MeasureSteps = std::function<double(const Variant& contender, int steps)>;

/// Measures all contenders once, but for those with a problem and the slow ones that have a time, and those that may
/// win some times more, in rounds of all, as long as `now_s` is within `budget_s` of its first value; a round under way
/// then is finished. Who may win is said by the shortest of `pilots` first batches, >= 1. Never throws what a contender
/// fails with.
void hold_contest(std::vector<Contender>& contenders, const MeasureSteps& measure, const std::function<double()>& now_s,
                  double budget_s, int pilots);

}  // namespace orrery
