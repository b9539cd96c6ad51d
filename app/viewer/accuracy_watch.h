#pragma once

#include <cstdint>
#include <optional>

#include "compute/sim/command.h"

namespace orrery {

/// Notices that the forces have become less accurate than the accuracy that `auto` must meet: the bodies have moved
/// since it chose. Its clock is the caller's, in seconds that only grow.
class AccuracyWatch {
 public:
  static constexpr double shortest_pause_s = 20, longest_pause_s = 640;  ///< from one choice to the next

  /// Whether `auto` is to choose again. Call at every frame. True after two probes in a row whose median error is above
  /// the accuracy, or whose p99 is above p99_over_accuracy times the accuracy, by more than the scatter of their
  /// samples, but at most once per pause. The pause doubles each time, until a probe is within the accuracy again.
  bool tune_again(double now_s, const Status& status);

 private:
  double pause_s_ = shortest_pause_s;
  std::optional<double> chosen_s_;     // when it last returned true
  std::optional<std::int64_t> probe_;  // the step of the latest probe
  bool exceeded_ = false;              // by the latest probe
};

}  // namespace orrery
