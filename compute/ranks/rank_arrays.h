#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/precise_body.h"

namespace orrery {

/// A rank's copies for one evaluation, one entry per body. They never shrink, as several kernels may be in use.
struct RankArrays {
  std::vector<Vec4> positions, positions_low, velocities, accelerations, accelerations_low;
  std::vector<PreciseBody> precise;
  std::vector<Pull> pulls;
  std::vector<int> targets;

  /// Makes room for so many bodies.
  void prepare(int count, bool low_words = false, bool jerks = false) {
    const auto size = static_cast<std::size_t>(count);
    const auto grow = [&](auto& array) { array.resize(std::max(array.size(), size)); };
    grow(positions), grow(velocities), grow(accelerations), grow(targets);
    if (low_words) grow(positions_low), grow(accelerations_low);
    if (jerks) grow(precise), grow(pulls);
  }
};

}  // namespace orrery
