#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/lab/tuning/tuning_run.h"

namespace orrery {

/// The result of one evaluation.
struct AccuracyTrial {
  double median_error;  ///< |da|/|a| against fp64; NaN fails
  double step_ms;       ///< of one step, the first, which also takes memory and warms up
};
/// Throws what the candidate fails with: UsageError if it cannot run here.
using TryAccuracy = std::function<AccuracyTrial(const Variant& candidate)>;

/// A median error in a trial must be at most this part of the accuracy. It is the median of 1,024 bodies: that of
/// other bodies differs by some 4 % (one standard deviation), and the bodies move. With this margin, it is to stay
/// within the accuracy for 95 % of the samples of later states.
inline constexpr double accuracy_margin = 0.9;
inline double largest_median_error(double accuracy) {
  return accuracy_margin * accuracy;
}

struct TrialLimits {
  double accuracy = 0;   ///< 0: full fp32 accuracy
  double direct_ms = 0;  ///< forecast for one step of a direct sum: what is much slower cannot win; 0: not known
};

/// Candidates after their accuracy trials: trees have the settings that the search found.
struct AccuracyTrials {
  std::vector<Candidate> candidates;
  double took_s = 0;
  double pilot_ms = 0;  ///< of one step of the first direct sum that ran, with few bodies; 0: not measured
};

/// Tries the candidates that are not full_fp32, and those whose kernel's tolerance does not ensure the accuracy. Trees
/// come first: search_setting() finds the value of the tunable that trades accuracy, once for all candidates of a tree
/// that have the same value of it. Those of another value are tried if the former need a smaller value than theirs:
/// their search begins where the former ended, and all searches of a tree make at most most_setting_trials. Then direct
/// sums, and last the kernels that have a faster one, which are ruled out if that one meets the accuracy. Direct sums
/// that need a trial are ruled out if a tree meets the accuracy and is much faster. Rules out all that do not meet the
/// accuracy; if none does, those of full fp32 accuracy remain. Never throws what a candidate fails with.
void try_accuracy(std::vector<Candidate>& candidates, const TryAccuracy& try_one, const TrialLimits& limits);

/// "cuda-tree tolerance=5e-05".
std::string words_for(const Variant& variant);
/// "median error 0.00041".
std::string error_words(double median_error);

}  // namespace orrery
