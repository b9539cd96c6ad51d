#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/cuda/launch.h"

namespace orrery {

/// Returns how many blocks, 1 ... `most`, should share a sum over `sources` bodies for the same targets, which are
/// `block * bodies_per_thread`: the split with the lowest estimated time on the busiest multiprocessor. The estimate
/// includes latency that too few warps cannot hide, and a pass over the partial sums.
inline int fastest_split(int targets, int sources, int block, int bodies_per_thread, int multiprocessors, int most) {
  constexpr double partial_cost = 20;  // interactions: the time to write and read back a partial sum
  constexpr double enough_warps = 16;
  const double rows = cuda::ceil_div(targets, block * bodies_per_thread);
  const double tile_interactions = static_cast<double>(block) * block * bodies_per_thread;
  int best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int split = 1; split <= most; ++split) {
    const double blocks = std::ceil(rows * split / multiprocessors);
    const double latency = std::max(1.0, enough_warps / (blocks * block / 32));
    const double tiles = cuda::ceil_div(cuda::ceil_div(sources, block), split);
    const double passes = split > 1 ? split * static_cast<double>(targets) * partial_cost / multiprocessors : 0;
    const double cost = blocks * tiles * tile_interactions * latency + passes;
    if (cost < best_cost) {
      best = split;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace orrery
