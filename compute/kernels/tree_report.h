#pragma once

#include <cstdint>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// How long one phase of an evaluation took.
struct TreePhase {
  const char* name;  ///< such as "build"; of static duration
  double ms;
};

/// What a CUDA kernel counts, in device memory.
struct TreeCounts {
  unsigned long long interactions;
  int cells, depth;
};

/// What a tree kernel found in one evaluation.
struct TreeReport {
  std::int64_t interactions = 0;  ///< evaluated, with bodies and with cells
  std::int64_t cells = 0;         ///< of the tree, leaves included
  int depth = 0;                  ///< levels below the root
  std::vector<TreePhase> phases;  ///< in their order; empty where they were not timed
};

/// A cube of the tree.
struct TreeCell {
  Vec3 center;
  float half_size;  ///< > 0
  int level;        ///< 0: the root
};

}  // namespace orrery
