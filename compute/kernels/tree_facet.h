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

/// Counters of a CUDA tree, in device memory.
struct TreeCounts {
  unsigned long long interactions;
  int cells, depth;
};

/// Report of a tree kernel on one evaluation.
struct TreeReport {
  std::int64_t interactions = 0;   ///< number of interactions with bodies and with cells
  double vector_instructions = 0;  ///< CPU kernel: arithmetic instructions per lane in the sums; 0: not counted
  std::int64_t cells = 0;          ///< number of cells, leaves included
  int depth = 0;                   ///< deepest level; the root has level 0
  std::vector<TreePhase> phases;   ///< in order of time; empty if they were not timed
  std::int64_t phases_age = 0;     ///< number of steps by which `phases` are older than the rest
};

/// Cube of a tree cell.
struct TreeCell {
  Vec3 center;
  float half_size;  ///< half of the edge, > 0
  int level;        ///< level in the tree; 0: the root
};

/// Request to read cells of a tree, and the walk of one body.
struct CellRequest {
  static constexpr int every_level = -1, nobody = -1;

  int most = 0;             ///< maximum number of cells; if there are more, the larger ones are read; 0: none
  int level = every_level;  ///< level of the cells
  int walk_of = nobody;     ///< body whose walk is read
  friend bool operator==(const CellRequest&, const CellRequest&) = default;
};

/// Cells and bodies that a body's group visited on its walk through the tree. Groups of neighbours share a walk.
struct BodyWalk {
  std::vector<TreeCell> cells;   ///< cells that acted as a whole
  std::vector<TreeCell> leaves;  ///< leaves whose bodies acted one by one
  std::int64_t bodies = 0;       ///< number of bodies in these leaves
};

/// Result of a CellRequest.
struct PickedCells {
  std::vector<TreeCell> cells;   ///< sorted by level
  std::int64_t count = 0;        ///< number of cells on the requested level, of which `cells` may be a part
  std::optional<BodyWalk> walk;  ///< none if no walk was requested, or if the kernel has no record of it
};

/// Implemented by tree kernels: reports, and cells to show.
class TreeFacet {
 public:
  virtual ~TreeFacet() = default;
  /// Returns the report on one of the latest evaluations that have ended; none before the first.
  virtual std::optional<TreeReport> report() const = 0;
  /// Allocates the memory that pick_cells() needs for a tree of `count` bodies.
  virtual void prepare_cells(const CellRequest& /*request*/, int /*count*/) {}
  /// Copies cells of the latest evaluation's tree, for cells(). `request.most` must be at least 1. A CUDA kernel
  /// enqueues the copy on `stream` and returns.
  virtual void pick_cells(const CellRequest& request, CUstream_st* stream) = 0;
  /// Returns the cells of the latest pick_cells(); none if there was no tree. Call when the stream has passed the copy.
  virtual std::optional<PickedCells> cells() const = 0;
};

}  // namespace orrery
