#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"

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

  /// For a part of an evaluation whose bodies are here; without targets.
  ForceArgs args_of(const Evaluation& part) {
    return {.bodies = positions.data(),
            .bodies_low = part.low_words ? positions_low.data() : nullptr,
            .count = part.count,
            .masses = part.masses,
            .law = part.law,
            .epilogue = {.accelerations = part.stores ? accelerations.data() : nullptr,
                         .velocities = part.kicks ? velocities.data() : nullptr,
                         .kick_dt = part.kick_dt,
                         .drag = part.drag,
                         .accelerations_low = part.stores_low ? accelerations_low.data() : nullptr}};
  }
};

}  // namespace orrery
