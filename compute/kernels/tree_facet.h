#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/core/vec.h"

struct CUstream_st;  // cudaStream_t, so that this header needs no CUDA

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

/// What trees have besides forces.
class TreeFacet {
 public:
  virtual ~TreeFacet() = default;
  /// What was found in one of the latest evaluations that have ended; none before the first.
  virtual std::optional<TreeReport> report() const = 0;
  /// Takes the memory that pick_cells() needs for `most` cells of a tree of `count` bodies.
  virtual void prepare_cells(int /*most*/, int /*count*/) {}
  /// Sets cells of the latest evaluation's tree aside, the larger ones first, at most `most` >= 1. A CUDA kernel
  /// enqueues that on `stream` and returns.
  virtual void pick_cells(int most, CUstream_st* stream) = 0;
  /// The cells of the latest pick, by level; none if there was no tree. Call only once the stream has passed the pick.
  virtual std::vector<TreeCell> cells() const = 0;
};

}  // namespace orrery
