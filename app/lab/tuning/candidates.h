#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/variants.h"
#include "compute/core/text.h"
#include "compute/diagnostics/reference.h"
#include "compute/sim/backends.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// Returns the time per step in ms, from a batch of `steps` steps. Throws the candidate's failure: UsageError if it
/// cannot run here.
using MeasureSteps = std::function<double(const Variant& candidate, int steps)>;

/// Result of one trial of a setting that trades accuracy for time.
struct SettingTrial {
  double error;      ///< > 0; NaN and infinity never meet a target
  bool slow{false};  ///< whether smaller settings would be too slow to try, if the error is too large
};

/// Returns the numbers with two significant digits in `range`, ascending; neighbours are at most 10 % apart. `range` is
/// positive and holds at least one of these numbers.
std::vector<double> two_digit_numbers(const Range<double>& range);

/// Maximum numbers of trials for one tree. The first is shared by its first candidate and the first one with another
/// order. The second is for each further candidate, which begins with a nearly right value.
inline constexpr int most_setting_trials = 8, most_further_trials = 3;

/// Finds the largest of `settings` (positive, ascending, at least one) whose error is at most `target` (> 0). A larger
/// setting is faster and less accurate. Uses regula falsi for log(error) over log(setting), starting at index `first`.
/// Ends when an error is within 8 % below the target, or after `most_trials` (>= 1). Returns the index of a tried
/// setting that meets the target; none if no trial does. Passes on exceptions of `try_setting`.
std::optional<std::size_t> search_setting(std::span<const double> settings, std::size_t first, double target,
                                          int most_trials,
                                          const std::function<SettingTrial(std::size_t index)>& try_setting);

/// A variant that `auto` may choose, with its measurement.
struct Candidate {
  Variant variant;
  double step_ms = 0;     ///< 0: not measured
  Problem problem{};      ///< why it was not measured or is ruled out
  int forecast_from = 0;  ///< number of bodies with which step_ms was measured, then scaled by n^2; 0: all bodies
  std::optional<ForceError> error{};  ///< from the candidate's own last trial; none: it needed no trial
};

/// Result of one force evaluation.
struct AccuracyTrial {
  ForceError error;  ///< relative to double-precision sums; NaN fails
  double step_ms;    ///< time of the first step, which includes allocation and warm-up
};

/// Runs one trial. Throws the candidate's failure: UsageError if it cannot run here.
using TryAccuracy = std::function<AccuracyTrial(const Variant& candidate)>;

/// p99 limit divided by the accuracy A: a variant promises a median |da|/|a| <= A and a 99th percentile <= 5 A.
inline constexpr double p99_over_accuracy = 5;

/// Safety factor of the median: a trial must have a median error of at most 0.9 A. The medians of different samples of
/// 1,024 bodies vary by about 4 % (one standard deviation), and the bodies move. With the factor, 95 % of the samples
/// of later states should stay within A.
inline constexpr double accuracy_margin = 0.9;

inline double largest_median_error(double accuracy) {
  return accuracy_margin * accuracy;
}

/// Safety factor of the 99th percentile. It is the eleventh largest of 1,024 errors and varies by about 15 %.
inline constexpr double p99_margin = 0.75;

inline double largest_p99_error(double accuracy) {
  return p99_margin * p99_over_accuracy * accuracy;
}

struct TrialLimits {
  double accuracy = 0;   ///< 0: full fp32 accuracy
  double direct_ms = 0;  ///< forecast of a direct sum's step; much slower candidates cannot win; 0: not known
};

/// Candidates after their accuracy trials. Trees have the settings that the search found.
struct AccuracyTrials {
  std::vector<Candidate> candidates;
  double took_s = 0;
  double pilot_ms = 0;  ///< time per step of the first direct sum that ran, with few bodies; 0: not measured
};

/// Tries the candidates that are not full_fp32, or whose kernel's tolerance does not ensure the accuracy. Rules out all
/// that do not meet the accuracy; if none does, those of full fp32 accuracy remain.
/// Trees come first: search_setting() finds their accuracy setting. Each candidate is evaluated with its own other
/// settings. A further candidate that begins with the same value starts where the first search ended, and makes at most
/// most_further_trials. A candidate that begins with another value is tried if the earlier ones need a smaller value
/// than that; both first searches make at most most_setting_trials together.
/// Direct sums come next, and last those with a faster counterpart. They are ruled out if the counterpart meets the
/// accuracy. Direct sums that need a trial are ruled out if a tree meets the accuracy and is much faster. Does not
/// throw the failures of candidates.
void try_accuracy(std::vector<Candidate>& candidates, const TryAccuracy& try_one, const TrialLimits& limits);

/// Returns "cuda-tree tolerance=5e-05".
std::string words_for(const Variant& variant);

/// Returns whether the candidate had a trial, and both errors are within the accuracy with their safety factors.
bool meets(const Candidate& candidate, double accuracy);

/// Returns "median error 0.00041, p99 0.0018, maximum 0.0093".
std::string error_words(const ForceError& error);

/// Measurements on which a choice is based.
struct TuningResult {
  std::vector<Candidate> candidates;  ///< equally fast ones are chosen in this order
  int count = 0;                      ///< number of bodies for which the times hold
  std::string date{};                 ///< when measured, in UTC

  /// Returns the indices of the measured candidates; the first one is to be chosen. It is the first in order whose time
  /// is at most 2 % above the fastest, so that noise does not decide. The others are sorted by time.
  std::vector<std::size_t> preference() const;
};

/// Carries out a tuning run. Warms up every candidate without a problem in `pilots` (>= 1) batches, except those known
/// to be slow. Then measures those within 25 % of the fastest, in rounds, until `now_s` has advanced by `budget_s`. A
/// round that has begun is completed. Does not throw the failures of candidates.
void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots);

/// Returns the largest number of bodies with which direct sums are measured. More would take too long and change
/// little, as this many already occupy the whole machine.
int most_measured_bodies(Backend backend);

/// Returns whether kernels that are not full_fp32 are candidates. Returns false with few bodies, where direct sums are
/// fastest, and if the accuracy is `exact` (0).
bool approximations_are_candidates(const KernelDemand& demand, Backend backend);

/// Returns the candidates of all kernels of this machine's best backend. Their order decides between equally fast ones:
/// that of the catalog, then of each kernel's declaration.
std::vector<Variant> candidates_here(const Backends& backends);

/// Tries candidates with `system`; see try_accuracy(). Each trial is one evaluation and an fp64 direct sum for a sample
/// of bodies. Full fp32 sums are tried with at most most_measured_bodies() bodies, as their errors depend little on the
/// count. Throws Cancelled soon after a stop request; on CUDA after the current batch. measure_candidates() does the
/// same.
AccuracyTrials measure_accuracy(const Backends& backends, const std::vector<Variant>& candidates,
                                const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop);

/// Measures the candidates, all of one backend and at least one, with run_tuning(). Takes 0.35 s (CPU) or 0.2 s (CUDA)
/// including the trials, and longer if one tree evaluation does. Direct sums step a star cluster, as their time does
/// not depend on positions. It has the demanded count, or as many bodies as the time allows. Trees step `system`
/// itself. If a tree is a candidate, all times hold for the demanded count. Steps are those of leapfrog: force and
/// integration.
TuningResult measure_candidates(const Backends& backends, const AccuracyTrials& trials, const KernelDemand& demand,
                                const ForceSystem& system, const std::stop_token& stop);

}  // namespace orrery
