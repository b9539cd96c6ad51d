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
  /// `quick_changes`: so many changes follow from one evaluation each, as while nothing is known of the work.
  explicit LearnedSizes(int parts, int quick_changes = 0) : sizes_{parts}, quick_changes_{quick_changes} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// `ms`: by part, of an evaluation with these sizes. Returns whether it changed them.
  bool learn(std::span<const double> ms) {
    least_ms_.resize(ms.size());
    for (std::size_t part = 0; part < ms.size(); ++part) {
      least_ms_[part] = timed_ == 0 ? ms[part] : std::min(least_ms_[part], ms[part]);
    }
    if (++timed_ < (quick_changes_ > 0 ? 1 : evaluations_per_change)) return false;
    timed_ = 0;
    const bool changed = sizes_.learn(least_ms_);
    if (changed && quick_changes_ > 0) --quick_changes_;
    return changed;
  }

 private:
  static constexpr int evaluations_per_change = 4;

  PartSizes sizes_;
  int quick_changes_;
  std::vector<double> least_ms_;  // by part, of the evaluations with these sizes
  int timed_ = 0;                 // so many of them
};

}  // namespace orrery
