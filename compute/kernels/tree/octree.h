#pragma once

#include <cstdint>

#include "compute/core/vec.h"
#include "compute/kernels/tree/body_keys.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/tree_units.h"
#include "compute/kernels/tree_facet.h"

// The octree over bodies that are sorted by key, in device memory. Cells lie level by level, the root first; the
// children of a cell are consecutive. Arrays may hold several trees, one behind the other: numbers of bodies and cells
// count from the beginning of the arrays.
namespace orrery {

/// The bodies and the children of a cell.
struct alignas(16) OctreeLinks {
  int begin, end;         ///< bodies, in the order of their keys
  int first_child;        ///< a cell
  std::uint8_t children;  ///< 0: a leaf
  std::uint8_t level;     ///< of its cube; the root has 0. A child may be several levels deeper, since cells with one
                          ///< child are left out
};

/// What a walk reads to open a cell.
struct alignas(16) OctreeNode {
  int first;     ///< body of a leaf, or child
  int bodies;    ///< of a leaf; else 0
  int children;  ///< 0: a leaf
  float reach;   ///< see Octree::tolerance
};

/// Sums over the bodies, and the kernels' counters.
struct OctreeState {
  double sum[3];                        ///< of the coordinates
  double deviation;                     ///< sum of their distances from their means
  TreeCube cube;                        ///< of the keys
  int least[3], most[3];                ///< of the coordinates, as cuda::ordered_bits() has them
  int most_mass;                        ///< of a body, likewise
  int rows;                             ///< of cells
  int row_begin[key_levels + 3];        ///< the first cell of each, and of the one after the last
  int children_wanted[key_levels + 3];  ///< requested by the cells of the row before it
  int empty_cells;                      ///< places left empty because not all children of a cell got one
  TreeCounts found;
  int groups;      ///< of bodies that walk together
  int next_share;  ///< of a group, that a warp takes: Octree::split for each group

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

/// Neighbouring bodies that walk the tree together, in the order of their keys.
struct OctreeGroup {
  static constexpr int most = 64;  ///< bodies

  int begin, end;
  ORRERY_HD int size() const { return end - begin; }
};

/// The bodies and the accelerations are in the units of the bodies, all else in those of the tree: TreeUnits of the
/// state's cube.
struct Octree {
  int count = 0;       ///< bodies
  int first_body = 0;  ///< its number
  int first_cell = 0;  ///< the root
  int end_cell = 0;    ///< the first behind the room for cells; a tree that needs more has larger leaves
  int leaf = 0;        ///< bodies; a cell with at most this many is not divided
  int group = 0;       ///< bodies in a group, at most
  int split = 1;       ///< warps that share the walk of a group
  /// A cell counts as a whole if its distance from a group's box is at least its size over theta, ...
  float theta = 0;
  /// ... and, unless this is 0, if the pull of the first neglected moment is less than this part of the whole pull on
  /// the group. With sigma the rms distance of its bodies from the centre of mass, that is about M sigma^3 / d^5 (M
  /// sigma^2 / d^4 without quadrupoles): so d^2 has to be at least `reach` = (M sigma^3)^(2/5), or (M sigma^2)^(1/2),
  /// times the same power of 1 / (tolerance x the group's acceleration).
  float tolerance = 0;
  FarField far = FarField::quadrupole;
  OctreeState* state = nullptr;
  // One per body, sorted by key. Other trees' keys, order and accelerations need not exist:
  const std::uint64_t* keys = nullptr;
  const int* order = nullptr;     ///< the body's index in the caller's arrays
  Vec4* bodies = nullptr;         ///< x, y, z, m
  Vec4* accelerations = nullptr;  ///< and the mass; may share the memory of the keys, once the tree is built
  // One per cell, of all trees:
  OctreeNode* nodes = nullptr;
  Vec4* tests = nullptr;      ///< centre of mass, and the square of the distance from which the cell counts as a whole
  Vec4* moments_a = nullptr;  ///< mass, and -3 times the second moments xx, xy, xz about the centre of mass
  Vec4* moments_b = nullptr;  ///< -3 times yy, yz, zz, and half the trace; with high moments, high::spread_of() instead
  Vec4* high_moments = nullptr;  ///< from the third order on, see store_high_moments(); null: none
  // One per cell; a walk needs none of them, so other trees' need not exist:
  OctreeLinks* links = nullptr;
  Vec4 *low = nullptr, *high = nullptr;  ///< corners of the box around the bodies; w is unused

  /// If not null, walks note for each stretch of this many bodies how far the groups that begin there open cells: the
  /// greatest factor of `reach` (see tolerance), for errors in the units of the bodies. 0 at first.
  float* reach_scales = nullptr;
  int stretch = 1;

  OctreeGroup* groups = nullptr;  ///< of this tree; room for its cells + count / the least group

  /// Where walks begin: the roots of all trees.
  int trees = 1;
  static constexpr int most_trees = 64;
  int roots[most_trees] = {};

  /// A stack entry of the walk must hold the number of any cell.
  static constexpr int most_cells = 1 << 29;
  static constexpr int most_bodies = 2 * most_cells - 4096;
  /// Enough cells, except for trees with many cells of one or two bodies.
  static constexpr int capacity_for(int count) { return count / 2 + 1024; }
};

}  // namespace orrery
