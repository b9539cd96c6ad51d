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

/// Returns the time of one step in ms, from a batch of `steps` steps. Throws what the candidate fails with: UsageError
/// if it cannot run here.
using MeasureSteps = std::function<double(const Variant& candidate, int steps)>;

/// One trial of a setting that trades accuracy for time.
struct SettingTrial {
  double error;      ///< > 0; NaN and infinity do not meet any target
  bool slow{false};  ///< if its error is too large, no smaller setting is worth a trial
};

/// The numbers with two significant digits in `range`, ascending: short as text, and at most 10 % apart. `range` holds
/// positive numbers only, and at least one of these.
std::vector<double> two_digit_numbers(const Range<double>& range);

/// Maximum of trials for one tree: by its first candidate and the first one with another order together, then by each
/// further candidate, which begins with a value that is nearly right.
inline constexpr int most_setting_trials = 8, most_further_trials = 3;

/// Finds the largest of `settings` (positive, ascending, at least one) whose error is at most `target` (> 0). A larger
/// setting is faster and less accurate. Searches by regula falsi over log(error) against log(setting), from the index
/// `first`, and ends when an error is within 8 % below the target, or after `most_trials` (>= 1). Returns the index of
/// a setting that was tried and meets the target; none if no trial did. Passes on what `try_setting` throws.
std::optional<std::size_t> search_setting(std::span<const double> settings, std::size_t first, double target,
                                          int most_trials,
                                          const std::function<SettingTrial(std::size_t index)>& try_setting);

/// A variant that `auto` may choose, with its measurement.
struct Candidate {
  Variant variant;
  double step_ms = 0;     ///< of one step; 0: not measured
  Problem problem{};      ///< why it was not measured or is ruled out
  int forecast_from = 0;  ///< bodies with which step_ms was measured, then scaled to all by n^2; 0: all of them
  std::optional<ForceError> error{};  ///< in its own last accuracy trial; none: it needed no trial
};

/// The result of one evaluation.
struct AccuracyTrial {
  ForceError error;  ///< against sums in double precision; NaN fails
  double step_ms;    ///< of one step, the first, which also takes memory and warms up
};

/// Throws what the candidate fails with: UsageError if it cannot run here.
using TryAccuracy = std::function<AccuracyTrial(const Variant& candidate)>;

/// An accuracy A promises two errors |da|/|a|: a median of at most A, and a 99th percentile of at most this times A.
inline constexpr double p99_over_accuracy = 5;

/// A median error in a trial must be at most this part of the accuracy. It is the median of 1,024 bodies: that of
/// other bodies differs by some 4 % (one standard deviation), and the bodies move. With this margin, it is to stay
/// within the accuracy for 95 % of the samples of later states.
inline constexpr double accuracy_margin = 0.9;

inline double largest_median_error(double accuracy) {
  return accuracy_margin * accuracy;
}

/// The margin of the 99th percentile, which is the eleventh largest of 1,024 errors: it differs by some 15 %.
inline constexpr double p99_margin = 0.75;

inline double largest_p99_error(double accuracy) {
  return p99_margin * p99_over_accuracy * accuracy;
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
/// come first: search_setting() finds the value of the setting that trades accuracy. Each candidate is measured with
/// its own settings. If a further candidate begins with the same value, its search begins where the first one ended,
/// and makes at most most_further_trials. Candidates that begin with another value are tried if the earlier ones need a
/// smaller value than theirs; both first searches make at most most_setting_trials together. Direct sums come next, and
/// last those that have a faster counterpart: they are ruled out if the counterpart meets the accuracy. Direct sums
/// that need a trial are ruled out if a tree meets the accuracy and is much faster. Rules out all that do not meet the
/// accuracy; if none does, those of full fp32 accuracy remain. Never throws what a candidate fails with.
void try_accuracy(std::vector<Candidate>& candidates, const TryAccuracy& try_one, const TrialLimits& limits);

/// "cuda-tree tolerance=5e-05".
std::string words_for(const Variant& variant);

/// Whether the candidate had a trial, and both of its errors are within the accuracy with their margins.
bool meets(const Candidate& candidate, double accuracy);

/// "median error 0.00041, p99 0.0018, maximum 0.0093"
std::string error_words(const ForceError& error);

/// The measurements behind a choice.
struct TuningResult {
  std::vector<Candidate> candidates;  ///< in order of preference among equals
  int count = 0;                      ///< bodies that the times hold for
  std::string date{};                 ///< of the measurement, in UTC

  /// Indices of the measured candidates. The first is the one to choose: the first in order whose time is at most 2 %
  /// above the fastest, so that the choice does not follow the noise. The others follow by time.
  std::vector<std::size_t> preference() const;
};

/// A tuning run. Warms up every candidate that has no problem with `pilots` (>= 1) batches, except those whose step is
/// known to be slow. Then measures those that are within 25 % of the fastest, in rounds, until `now_s` has advanced by
/// `budget_s`; a round that has begun ends. Never throws what a candidate fails with.
void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots);

/// The most bodies with which direct sums are measured. More would take too long and change little, since these already
/// keep the machine busy.
int most_measured_bodies(Backend backend);

/// Whether kernels that are not full_fp32 are candidates: with few bodies a direct sum is the fastest, and `exact`
/// rules them out.
bool approximations_are_candidates(const KernelDemand& demand, Backend backend);

/// The candidates of all kernels of the best backend of this machine, in order of preference among equals: that of the
/// catalog and of their declarations.
std::vector<Variant> candidates_here(const Backends& backends);

/// Tries candidates with `system`, see try_accuracy(): each trial is one evaluation, and a direct sum in fp64 over a
/// sample of bodies. Errors of full fp32 sums depend little on the count: those are measured with at most
/// most_measured_bodies() of the bodies. Throws Cancelled soon after `stop` was requested, on CUDA after the current
/// batch; so does measure_candidates().
AccuracyTrials measure_accuracy(const Backends& backends, const std::vector<Variant>& candidates,
                                const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop);

/// Measures the candidates, all of one backend and at least one, with run_tuning(). It takes 0.35 s (CPU) or 0.2 s
/// (CUDA) with the trials, and longer if one evaluation by a tree does. Direct sums step a star cluster of the demanded
/// count, or of as many bodies as their time allows: their time does not depend on positions. Trees step `system`
/// itself. If a tree is a candidate, all times hold for the demanded count. Steps are leapfrog's: force and
/// integration.
TuningResult measure_candidates(const Backends& backends, const AccuracyTrials& trials, const KernelDemand& demand,
                                const ForceSystem& system, const std::stop_token& stop);

}  // namespace orrery
