#pragma once

#include <cstdint>

#include "compute/core/vec.h"
#include "compute/kernels/tree/body_keys.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/tree_units.h"
#include "compute/kernels/tree_facet.h"

// Octree over key-sorted bodies, in device memory. Cells are stored level by level, the root first; the children of a
// cell are consecutive. Arrays may hold several trees, one after the other: indices of bodies and cells count from the
// beginning of the arrays.
namespace orrery {

/// Bodies and children of a cell.
struct alignas(16) OctreeLinks {
  int begin, end;         ///< bodies, in key order
  int first_child;        ///< index of a cell
  std::uint8_t children;  ///< number of children; 0: a leaf
  std::uint8_t level;  ///< level of its cube; the root has 0. A child may be several levels deeper, as cells with one
                       ///< child are left out
};

/// Data of a cell that a walk reads to open it.
struct alignas(16) OctreeNode {
  int first;     ///< first body of a leaf, or first child
  int bodies;    ///< number of bodies of a leaf; else 0
  int children;  ///< number of children; 0: a leaf
  float reach;   ///< see Octree::tolerance
};

/// Sums over the bodies, and counters of the kernels.
struct OctreeState {
  double sum[3];                        ///< sums of the coordinates
  double deviation;                     ///< sum of the distances from the means
  TreeCube cube;                        ///< cube of the keys
  int least[3], most[3];                ///< bounds of the coordinates, encoded by cuda::ordered_bits()
  int most_mass;                        ///< largest mass of a body, encoded the same way
  int rows;                             ///< number of rows of cells
  int row_begin[key_levels + 3];        ///< first cell of each row, and of the one after the last
  int children_wanted[key_levels + 3];  ///< cells requested for each row by the row before it
  int empty_cells;                      ///< places left empty because not all children of a cell fitted
  TreeCounts found;
  int groups;      ///< number of groups of bodies that walk together
  int next_share;  ///< next share of a group for a warp to take; each group has Octree::split shares

  ORRERY_HD static OctreeState without_bodies() {
    constexpr int greatest = 0x7fffffff;
    OctreeState state{};
    for (int axis = 0; axis < 3; ++axis) {
      state.least[axis] = greatest;
      state.most[axis] = -greatest - 1;
    }
    return state;
  }
};

/// Bodies, consecutive in key order, that walk the tree together.
struct OctreeGroup {
  static constexpr int most = 64;  ///< maximum number of bodies

  int begin, end;
  ORRERY_HD int size() const { return end - begin; }
};

/// An octree in device memory. Bodies and accelerations are in the units of the bodies, all else in those of the tree:
/// TreeUnits of the state's cube.
struct Octree {
  int count = 0;       ///< number of bodies
  int first_body = 0;  ///< index of the first body
  int first_cell = 0;  ///< index of the root
  int end_cell = 0;    ///< end of the capacity for cells; a tree that needs more has larger leaves
  int leaf = 0;        ///< a cell with at most this many bodies is not divided
  int group = 0;       ///< maximum number of bodies in a group
  int split = 1;       ///< number of warps that share the walk of a group
  /// A cell counts as a whole if its distance from a group's box is at least its size over theta, ...
  float theta = 0;
  /// ... and, unless this is 0, if the pull of the first neglected moment is less than this fraction of the group's
  /// acceleration. That pull is about M sigma^3 / d^5 (M sigma^2 / d^4 without quadrupoles), where sigma is the rms
  /// distance of the cell's bodies from the centre of mass. So d^2 must be at least `reach` = (M sigma^3)^(2/5), or (M
  /// sigma^2)^(1/2), times the same power of 1 / (tolerance x the group's acceleration).
  float tolerance = 0;
  FarField far = FarField::quadrupole;
  OctreeState* state = nullptr;
  // One entry per body, sorted by key. Other trees' keys, order and accelerations need not exist:
  const std::uint64_t* keys = nullptr;
  const int* order = nullptr;     ///< index of each body in the caller's arrays
  Vec4* bodies = nullptr;         ///< x, y, z, m
  Vec4* accelerations = nullptr;  ///< and masses; may share the memory of the keys, once the tree is built
  // One entry per cell, of all trees:
  OctreeNode* nodes = nullptr;
  Vec4* tests = nullptr;      ///< centre of mass, and squared distance from which the cell counts as a whole
  Vec4* moments_a = nullptr;  ///< mass, and -3 times the second moments xx, xy, xz about the centre of mass
  Vec4* moments_b = nullptr;  ///< -3 times yy, yz, zz, and half the trace; with high moments, high::spread_of() instead
  Vec4* high_moments = nullptr;  ///< moments from the third order on, see store_high_moments(); null: none
  // One entry per cell. A walk needs none of them, so other trees' need not exist:
  OctreeLinks* links = nullptr;
  Vec4 *low = nullptr, *high = nullptr;  ///< corners of the bodies' bounding box; w is unused

  /// If not null, walks note how far groups open cells: for each stretch of this many bodies, the largest factor of
  /// `reach` (see tolerance) of the groups that begin there, for errors in the units of the bodies. Initially 0.
  float* reach_scales = nullptr;
  int stretch = 1;

  OctreeGroup* groups = nullptr;  ///< groups of this tree; room for its cells + count / the smallest group

  /// Roots of all trees, where walks begin.
  int trees = 1;
  static constexpr int most_trees = 64;
  int roots[most_trees] = {};

  /// Limit for which a stack entry of the walk holds the index of any cell.
  static constexpr int most_cells = 1 << 29;
  static constexpr int most_bodies = 2 * most_cells - 4096;
  /// Capacity for cells. Enough except for trees with many cells of one or two bodies.
  static constexpr int capacity_for(int count) { return count / 2 + 1024; }
};

}  // namespace orrery
