#pragma once

#include <cstdint>

#include "compute/core/vec.h"
#include "compute/kernels/tree/morton.h"
#include "compute/kernels/tree_facet.h"

// The octree over bodies that are sorted by key, in device memory. Cells lie level by level, the root first, the
// children of a cell side by side.
namespace orrery {

/// What a cell holds.
struct alignas(16) OctreeLinks {
  int begin, end;         ///< bodies, in the order of their keys
  int first_child;        ///< a cell
  std::uint8_t children;  ///< 0: a leaf
  std::uint8_t level;     ///< of the cube that holds its bodies; the root has 0. A cell's child may lie levels deeper:
                          ///< cells with one child are left out
};

/// What a walk does with a cell that does not stand for its bodies.
struct alignas(16) OctreeNode {
  int first;     ///< body of a leaf, or child
  int bodies;    ///< of a leaf; else 0
  int children;  ///< 0: a leaf
  float reach;   ///< see Octree::tolerance
};

/// What the kernels find out about the bodies and keep count of.
struct OctreeState {
  double sum[3];                        ///< of the coordinates
  double deviation;                     ///< sum of their distances from their means
  TreeCube cube;                        ///< of the keys
  int least[3], most[3];                ///< of the coordinates, as cuda::ordered_bits() has them
  int rows;                             ///< of cells
  int row_begin[key_levels + 3];        ///< the first cell of each, and of the one after the last
  int children_wanted[key_levels + 3];  ///< by the cells of the row before it
  int empty_cells;                      ///< places that a cell left empty, as not all of its children had one
  TreeCounts found;
  int groups, next_group;  ///< of bodies that walk together; the next that a warp takes
};

/// Neighbouring bodies that walk the tree together, in the order of their keys.
struct OctreeGroup {
  int begin, end;
};

struct Octree {
  int count = 0;     ///< bodies
  int leaf = 0;      ///< a cell of at most so many is not divided
  int capacity = 0;  ///< cells; where a tree needs more, it has larger leaves
  int group = 0;     ///< bodies in a group, at most
  /// A cell stands for its bodies at no less than its size over theta from a group's box, ...
  float theta = 0;
  /// ... and, unless this is 0, where the first moment that is left out pulls less than this part of what the group is
  /// pulled by in all. With sigma the rms distance of its bodies from the centre of mass, that is about M sigma^3 / d^5
  /// (M sigma^2 / d^4 without quadrupoles): so d^2 has to be at least `reach` = (M sigma^3)^(2/5), or (M
  /// sigma^2)^(1/2), times the same power of 1 / (tolerance x the group's acceleration).
  float tolerance = 0;
  bool quadrupole = true;  ///< of cells; else their mass alone
  OctreeState* state = nullptr;
  // One a body, sorted by key:
  const std::uint64_t* keys = nullptr;
  const int* order = nullptr;     ///< the number that the body has for the caller
  Vec4* bodies = nullptr;         ///< x, y, z, m
  Vec4* accelerations = nullptr;  ///< and the mass; may be where the keys are, once the tree is built
  // One a cell:
  OctreeLinks* links = nullptr;
  OctreeNode* nodes = nullptr;
  Vec4* tests = nullptr;      ///< centre of mass, and the square of the distance from which on it stands for the bodies
  Vec4* moments_a = nullptr;  ///< mass, and -3 times the second moments xx, xy, xz about the centre of mass
  Vec4* moments_b = nullptr;  ///< -3 times yy, yz, zz, and half the trace of what is stored
  Vec4 *low = nullptr, *high = nullptr;  ///< corners of the box around the bodies; w is unused

  OctreeGroup* groups = nullptr;  ///< room for capacity + count / 32

  /// So many that a stack entry of the walk holds the number of any cell.
  static constexpr int most_bodies = (1 << 29) - 4096;
  /// Enough for all but trees of many cells with a body or two.
  static constexpr int capacity_for(int count) { return count / 2 + 1024; }
};

}  // namespace orrery
