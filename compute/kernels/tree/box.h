#pragma once

#include <algorithm>

#include "compute/core/vec.h"

namespace orrery {

/// An axis-parallel box.
struct Box {
  Vec3 low, high;

  void add(const Box& other) {
    low = {std::min(low.x, other.low.x), std::min(low.y, other.low.y), std::min(low.z, other.low.z)};
    high = {std::max(high.x, other.high.x), std::max(high.y, other.high.y), std::max(high.z, other.high.z)};
  }
  /// Its longest side.
  float widest() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }
  Vec3 center() const { return {(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2}; }
  /// From the center to a corner.
  Vec3 half() const { return {(high.x - low.x) / 2, (high.y - low.y) / 2, (high.z - low.z) / 2}; }
};

}  // namespace orrery
