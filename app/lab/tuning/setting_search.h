#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/range.h"

namespace orrery {

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

}  // namespace orrery
