#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/core/vec.h"

struct CUstream_st;  // cudaStream_t, so that this header needs no CUDA

namespace orrery {

/// Duration of one phase of an evaluation.
struct TreePhase {
  const char* name;  ///< such as "build"; of static duration
  double ms;
};

/// Counters of a CUDA kernel, in device memory.
struct TreeCounts {
  unsigned long long interactions;
  int cells, depth;
};

/// Report of a tree kernel on one evaluation.
struct TreeReport {
  std::int64_t interactions = 0;   ///< evaluated, with bodies and with cells
  double vector_instructions = 0;  ///< of arithmetic in the sums of a CPU kernel, per lane; 0: not counted
  std::int64_t cells = 0;          ///< of the tree, leaves included
  int depth = 0;                   ///< the deepest level; that of the root is 0
  std::vector<TreePhase> phases;   ///< in their order; empty where they were not timed
  std::int64_t phases_age = 0;     ///< steps from the batch of the phases to that of the rest; 0: one batch
};

/// A cube of the tree.
struct TreeCell {
  Vec3 center;
  float half_size;  ///< > 0
  int level;        ///< 0: the root
};

/// Which cells of a tree to read, and whose walk.
struct CellRequest {
  static constexpr int every_level = -1, nobody = -1;

  int most = 0;             ///< cells, the larger ones first; 0: reads nothing
  int level = every_level;  ///< of the cells
  int walk_of = nobody;     ///< the body whose walk is read
  friend bool operator==(const CellRequest&, const CellRequest&) = default;
};

/// Cells and bodies that a body's group met on its walk through the tree. Groups of neighbours walk together.
struct BodyWalk {
  std::vector<TreeCell> cells;   ///< cells that counted as a whole
  std::vector<TreeCell> leaves;  ///< leaves whose bodies were met one by one
  std::int64_t bodies = 0;       ///< number of bodies in these leaves
};

struct PickedCells {
  std::vector<TreeCell> cells;   ///< by level
  std::int64_t count = 0;        ///< of the tree on the level that was asked for: `cells` may be a part of them
  std::optional<BodyWalk> walk;  ///< none if nobody's was asked for, or if the kernel cannot tell
};

/// Implemented by kernels with a tree: reports, and cells to show.
class TreeFacet {
 public:
  virtual ~TreeFacet() = default;
  /// Returns the report on one of the latest evaluations that have ended; none before the first.
  virtual std::optional<TreeReport> report() const = 0;
  /// Takes the memory that pick_cells() needs for a tree of `count` bodies.
  virtual void prepare_cells(const CellRequest& /*request*/, int /*count*/) {}
  /// Sets cells of the latest evaluation's tree aside; `request.most` is at least 1. A CUDA kernel enqueues that on
  /// `stream` and returns.
  virtual void pick_cells(const CellRequest& request, CUstream_st* stream) = 0;
  /// The latest pick; none if there was no tree. Call only once the stream has passed the pick.
  virtual std::optional<PickedCells> cells() const = 0;
};

}  // namespace orrery
