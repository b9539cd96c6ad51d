#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/kernel_axes.h"

namespace orrery {

/// One that may be chosen, and how it did.
struct Contender {
  Variant variant;
  double step_ms = 0;     ///< of one step; 0: not measured
  std::string problem{};  ///< why it was not measured, one line
  bool refused = false;   ///< it cannot run here, as opposed to a failure
};

/// What a choice stands on.
struct Contest {
  std::vector<Contender> contenders;  ///< those to prefer first
  int count = 0;                      ///< bodies with which they were measured
  std::string date{};                 ///< when, in UTC

  /// Indices of those that were measured: first the one to choose, which is the first in order of all that take no
  /// more than 2 % longer than the fastest, so that choices do not follow the noise; then the others by their times.
  std::vector<std::size_t> preference() const;
};

/// What one step takes in ms, from a batch of `steps` steps. Throws what the contender fails with: UsageError where
/// it cannot run here.
using MeasureSteps = std::function<double(const Variant& contender, int steps)>;

/// Measures all contenders once and those that may win some times more, in rounds of all, as long as `now_s` is within
/// `budget_s` of its first value; a round under way then is finished. Never throws what a contender fails with.
void hold_contest(std::vector<Contender>& contenders, const MeasureSteps& measure, const std::function<double()>& now_s,
                  double budget_s);

}  // namespace orrery
