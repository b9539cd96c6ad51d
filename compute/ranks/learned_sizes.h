#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/devices/part_sizes.h"

namespace orrery {

/// The sizes of the ranks' parts, from the least times of several evaluations: other programs disturb some.
class LearnedSizes {
 public:
  explicit LearnedSizes(int ranks) : sizes_{ranks} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// `ms`: by rank, of an evaluation with these sizes. Returns whether it changed them.
  bool learn(std::span<const double> ms) {
    least_ms_.resize(ms.size());
    for (std::size_t rank = 0; rank < ms.size(); ++rank) {
      least_ms_[rank] = timed_ == 0 ? ms[rank] : std::min(least_ms_[rank], ms[rank]);
    }
    if (++timed_ < evaluations_per_change) return false;
    timed_ = 0;
    return sizes_.learn(least_ms_);
  }

 private:
  static constexpr int evaluations_per_change = 4;

  PartSizes sizes_;
  std::vector<double> least_ms_;  // by rank, of the evaluations with these sizes
  int timed_ = 0;                 // so many of them
};

}  // namespace orrery
