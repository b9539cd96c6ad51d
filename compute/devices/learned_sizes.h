#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/devices/part_sizes.h"

namespace orrery {

/// The sizes of parts, from the least times of several evaluations: other programs, and the host, disturb some.
class LearnedSizes {
 public:
  /// `quick`: at first, while nothing is known of the work, so many evaluations are learned from one by one.
  explicit LearnedSizes(int parts, int quick = 0) : sizes_{parts}, quick_{quick} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// `ms`: by part, of an evaluation with these sizes. Returns whether it changed them.
  bool learn(std::span<const double> ms) {
    least_ms_.resize(ms.size());
    for (std::size_t part = 0; part < ms.size(); ++part) {
      least_ms_[part] = timed_ == 0 ? ms[part] : std::min(least_ms_[part], ms[part]);
    }
    if (++timed_ < (quick_ > 0 ? 1 : evaluations_per_change)) return false;
    timed_ = 0;
    quick_ = std::max(quick_ - 1, 0);
    return sizes_.learn(least_ms_);
  }
  /// Of other bodies.
  void forget_times() { timed_ = 0; }

 private:
  static constexpr int evaluations_per_change = 4;

  PartSizes sizes_;
  int quick_;
  std::vector<double> least_ms_;  // by part, of the evaluations with these sizes
  int timed_ = 0;                 // so many of them
};

}  // namespace orrery
