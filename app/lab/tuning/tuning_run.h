#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/kernel_axes.h"
#include "app/lab/problem.h"

namespace orrery {

/// A variant that `auto` may choose, with its measurement.
struct Candidate {
  Variant variant;
  double step_ms = 0;     ///< of one step; 0: not measured
  Problem problem{};      ///< why it was not measured or is ruled out
  int forecast_from = 0;  ///< bodies with which step_ms was measured, then scaled to all by n^2; 0: all of them
  std::optional<double> median_error{};  ///< |da|/|a| in the last accuracy trial; for kernels that are not full_fp32
};

/// Candidates after the accuracy trials of those that are not full_fp32.
struct AccuracyTrials {
  std::vector<Candidate> candidates;
  double took_s = 0;
};

/// The measurements behind a choice.
struct TuningResult {
  std::vector<Candidate> candidates;  ///< in order of preference among equals
  int count = 0;                      ///< bodies that the times hold for
  std::string date{};                 ///< of the measurement, in UTC

  /// Indices of the measured candidates. The first is the one to choose: the first in order whose time is at most 2 %
  /// above the fastest, so that the choice does not follow the noise. The others follow by time.
  std::vector<std::size_t> preference() const;
};

/// The result of one evaluation.
struct AccuracyTrial {
  double median_error;  ///< |da|/|a| against fp64; NaN fails
  double step_ms;       ///< of one step, the first, which also takes memory and warms up
};
/// Throws what the candidate fails with: UsageError if it cannot run here.
using TryAccuracy = std::function<AccuracyTrial(const Variant& candidate)>;

/// Tries the candidates that are not full_fp32. Trees come first: of each tree's settings, in order, until one meets
/// the accuracy; the next ones are more accurate and slower. Then the direct sums; with `spare_direct_sums` they are
/// ruled out if a tree meets the accuracy. Rules out all that do not meet it. Never throws what a candidate fails with.
void try_accuracy(std::vector<Candidate>& candidates, const TryAccuracy& try_one, double accuracy,
                  bool spare_direct_sums);
/// Whether a median error is at most `accuracy`. NaN is not.
inline bool meets_accuracy(double median_error, double accuracy) {
  return median_error <= accuracy;
}
/// "median error 0.00041".
std::string error_words(double median_error);

/// Returns the time of one step in ms, from a batch of `steps` steps. Throws what the candidate fails with: UsageError
/// if it cannot run here.
using MeasureSteps = std::function<double(const Variant& candidate, int steps)>;

/// A tuning run. Warms up every candidate that has no problem with `pilots` (>= 1) batches, except those whose step is
/// known to be slow. Then measures those that are within 25 % of the fastest, in rounds, until `now_s` has advanced by
/// `budget_s`; a round that has begun ends. Never throws what a candidate fails with.
void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots);

}  // namespace orrery
