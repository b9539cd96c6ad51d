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
  std::optional<double> median_error{};  ///< |da|/|a| in its own last accuracy trial; none: it needed no trial
  double p99_error = 0, max_error = 0;   ///< in the same trial; mean nothing without one
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

/// Returns the time of one step in ms, from a batch of `steps` steps. Throws what the candidate fails with: UsageError
/// if it cannot run here.
using MeasureSteps = std::function<double(const Variant& candidate, int steps)>;

/// A tuning run. Warms up every candidate that has no problem with `pilots` (>= 1) batches, except those whose step is
/// known to be slow. Then measures those that are within 25 % of the fastest, in rounds, until `now_s` has advanced by
/// `budget_s`; a round that has begun ends. Never throws what a candidate fails with.
void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots);

}  // namespace orrery
