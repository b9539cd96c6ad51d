#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/tree_cube.h"
#include "compute/kernels/tree_facet.h"

// cudaStream_t and cudaKernel_t, so that this header needs no CUDA.
struct CUstream_st;
struct CUkern_st;

namespace orrery::cuda {

class Device;

}  // namespace orrery::cuda

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

/// Sums over the bodies, and counters that the kernels use.
struct OctreeState {
  double sum[3];                        ///< sums of the coordinates
  double deviation;                     ///< sum of the distances from the means
  TreeCube cube;                        ///< cube of the keys
  int least[3], most[3];                ///< bounds of the coordinates, encoded by cuda::ordered_bits()
  int most_mass;                        ///< largest mass of a body, encoded the same way
  int rows;                             ///< number of rows of cells
  int row_begin[key_levels + 3];        ///< first cell of each row; after the last row, its end
  int children_wanted[key_levels + 3];  ///< cells requested for each row by the row before it
  int empty_cells;                      ///< places left empty because the children of a cell did not all fit
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

/// An octree in device memory. Bodies and accelerations are in the units of the bodies. All other values are in units
/// of the tree: TreeUnits of the state's cube.
struct Octree {
  int count = 0;       ///< number of bodies
  int first_body = 0;  ///< index of the first body
  int first_cell = 0;  ///< index of the root
  int end_cell = 0;    ///< end of the capacity for cells; a tree that needs more has larger leaves
  int leaf = 0;        ///< a cell with at most this many bodies is not divided
  int group = 0;       ///< maximum number of bodies in a group
  int split = 1;       ///< number of warps that share the walk of a group
  /// Opening angle. A cell may count as a whole if its distance from a group's box is at least its size over theta.
  float theta = 0;
  /// Maximum error of a cell that counts as a whole, relative to the group's acceleration; 0: no limit. The error is
  /// the pull of the first neglected moment, about M sigma^3 / d^5 (M sigma^2 / d^4 without quadrupoles). Here sigma is
  /// the rms distance of the cell's bodies from the centre of mass. So d^2 must be at least `reach` = (M
  /// sigma^3)^(2/5), or (M sigma^2)^(1/2), times the same power of 1 / (tolerance x the group's acceleration).
  float tolerance = 0;
  FarField far = FarField::quadrupole;
  OctreeState* state = nullptr;
  // Arrays with one entry per body, sorted by key. `keys`, `order` and `accelerations` need no entries for other trees'
  // bodies:
  const std::uint64_t* keys = nullptr;
  const int* order = nullptr;     ///< index of each body in the caller's arrays
  Vec4* bodies = nullptr;         ///< x, y, z, m
  Vec4* accelerations = nullptr;  ///< accelerations and masses; may share the memory of the keys, once the tree is
                                  ///< built
  // Arrays with one entry per cell, of all trees:
  OctreeNode* nodes = nullptr;
  Vec4* tests = nullptr;         ///< centre of mass, and squared distance from which the cell counts as a whole
  Vec4* moments_a = nullptr;     ///< mass, and -3 times the second moments xx, xy, xz about the centre of mass
  Vec4* moments_b = nullptr;     ///< -3 times yy, yz, zz, and half the trace; with high moments, high::spread_of()
                                 ///< replaces it
  Vec4* high_moments = nullptr;  ///< moments from the third order on, see store_high_moments(); null: none
  // Arrays with one entry per cell of this tree. Walks do not read them, so they need no entries for other trees'
  // cells:
  OctreeLinks* links = nullptr;
  Vec4 *low = nullptr, *high = nullptr;  ///< corners of the bodies' bounding box; w is unused

  /// Receives how far away groups open cells; null: not wanted. For each stretch of `stretch` bodies, walks note the
  /// largest factor of `reach` (see tolerance) of the groups that begin there, for errors in the units of the bodies.
  /// Initially 0.
  float* reach_scales = nullptr;
  int stretch = 1;

  OctreeGroup* groups = nullptr;  ///< groups of this tree; capacity: its cells + count / the smallest group

  /// Number and roots of all trees. Walks begin at the roots.
  int trees = 1;
  static constexpr int most_trees = 64;
  int roots[most_trees] = {};

  /// Maximum number of cells whose indices fit into a stack entry of the walk.
  static constexpr int most_cells = 1 << 29;
  static constexpr int most_bodies = 2 * most_cells - 4096;
  /// Returns the capacity for cells. It is enough except for trees with many cells of one or two bodies.
  static constexpr int capacity_for(int count) { return count / 2 + 1024; }
};

// Phases of an evaluation by the octree, in order. Each enqueues work on a stream of the active device and returns.

/// Computes the bodies' Hilbert keys, in the bodies' original order, and numbers them 0, 1, ... A body farther from the
/// mean than 1024 times the mean distance gets a key at the border. So the other keys have enough digits. Uses only
/// count and state of `tree`.
void find_keys(const cuda::Device& device, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
               CUstream_st* stream);
/// Computes the keys in a given cube, which is in device memory.
void find_keys_in(const TreeCube* cube, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
                  CUstream_st* stream);

/// Makes the first pass of find_keys() for bodies spread over several devices. Finds the extent of this device's
/// bodies, and their deviation from `center` (in device memory; null: the origin). The state must be
/// OctreeState::without_bodies().
void find_extent_around(const cuda::Device& device, const Vec3* center, OctreeState* state, const Vec4* bodies,
                        int count, CUstream_st* stream);
/// Makes the second pass: finds the cube and the mean of all bodies from the extents of all devices. All devices get
/// the same result.
void find_cube(const OnAll<const OctreeState>& extents, int of_all, TreeCube* cube, Vec3* mean, CUstream_st* stream);

/// Two buffers of N entries each. The first holds the keys and the numbers; the sort may swap the two.
struct KeyBuffers {
  std::uint64_t *keys, *other_keys;
  int *numbers, *other_numbers;
};
/// Returns the bytes of scratch memory that sort_keys() needs for `count` bodies.
std::size_t sort_bytes(const cuda::Device& device, int count);
/// Sorts the numbers by key. Afterwards, `buffers.keys` and `buffers.numbers` point to the result.
void sort_keys(KeyBuffers& buffers, int count, void* scratch, std::size_t scratch_bytes, CUstream_st* stream);

/// Sets sorted[i] = bodies[order[i]] for i in [0, count).
void gather_bodies(const Vec4* bodies, const int* order, int count, Vec4* sorted, CUstream_st* stream);

/// Sets is_target[i] to 1 if body i of `count` is among the targets, else to 0.
void mark_targets(const Targets& targets, int count, unsigned char* is_target, CUstream_st* stream);

/// Builds the cells, row by row from the root. If `keeps_cells`, keeps the cells of an earlier call for the same number
/// of bodies instead. Then computes the boxes and moments of the current bodies, from the last row up. Needs at least
/// one body, and a `tree.state` that find_keys() or find_keys_in() has filled in.
void build_octree(const cuda::Device& device, const Octree& tree, bool keeps_cells, CUstream_st* stream);

/// Computes tree.accelerations, and counts the interactions in tree.state. `is_target`: one byte per body in original
/// order, nonzero if its acceleration is wanted; null: all are wanted. Other accelerations are undefined.
void walk_octree(const cuda::Device& device, const Octree& tree, const Law& law, const unsigned char* is_target,
                 CUstream_st* stream);
/// Returns the function that walk_octree() launches; walk_octree_blocks() returns its number of blocks.
CUkern_st* walk_octree_function(LawId law, FarField far);
int walk_octree_blocks(const cuda::Device& device, LawId law, FarField far, int count, int split);
inline constexpr int walk_octree_block = 64;  ///< threads per block

/// Cells and bodies that the group of a body interacts with.
struct WalkFound {
  int place;          ///< place of the body in key order; -1: not in this tree
  OctreeGroup group;  ///< the body's group; empty if it is not in this tree
  int cells, leaves;  ///< cells that counted as a whole; leaves whose bodies interacted one by one
  int bodies;         ///< number of bodies in those leaves
};
/// Device memory for the record of one walk: the counts, and the indices of up to `most` cells and leaves.
struct WalkRecord {
  WalkFound* found;
  int *cells, *leaves;
  int most;
};
/// Repeats the walk of a body's group after walk_octree(), with the same tests, and records it. Needs `tree.order`.
void record_walk(const cuda::Device& device, const Octree& tree, const Law& law, int body, const WalkRecord& record,
                 CUstream_st* stream);

#if defined(__CUDACC__)

/// Places of a cell's moments in a tree with high moments.
struct StoredMoments {
  const Vec4 *a, *b;  ///< see Octree::moments_a and moments_b
  Vec4* high;         ///< stored_vectors entries

  __device__ StoredMoments(const Octree& tree, int cell)
      : a{tree.moments_a + cell},
        b{tree.moments_b + cell},
        high{tree.high_moments + static_cast<std::size_t>(cell) * high::stored_vectors} {}
};

inline __device__ high::Moments moments_from(const StoredMoments& stored) {
  const Vec4 a = *stored.a, b = *stored.b;
  high::Moments moments;
  moments.at[0] = a.x;
  constexpr float of_mixed = -1.0f / 3, of_square = of_mixed / 2;
  constexpr int second = high::terms_below(2);
  const float seconds[] = {of_square * a.y, of_mixed * a.z, of_mixed * a.w,
                           of_square * b.x, of_mixed * b.y, of_square * b.z};
  high::for_each<0, 6>([&](auto i) { moments.at[second + decltype(i)::value] = seconds[decltype(i)::value]; });
  high::for_each<0, high::stored_vectors>([&](auto constant) {
    constexpr int first = high::first_high_moment + 4 * decltype(constant)::value;
    const Vec4 four = stored.high[decltype(constant)::value];
    moments.at[first] = four.x;
    moments.at[first + 1] = four.y;
    if constexpr (first + 2 < high::moment_terms) moments.at[first + 2] = four.z;
    if constexpr (first + 3 < high::moment_terms) moments.at[first + 3] = four.w;
  });
  return moments;
}

/// Stores the moments from the third order on.
inline __device__ void store_high_moments(const StoredMoments& stored, const high::Moments& moments) {
  high::for_each<0, high::stored_vectors>([&](auto constant) {
    constexpr int first = high::first_high_moment + 4 * decltype(constant)::value;
    Vec4 four{moments.at[first], moments.at[first + 1], 0, 0};
    if constexpr (first + 2 < high::moment_terms) four.z = moments.at[first + 2];
    if constexpr (first + 3 < high::moment_terms) four.w = moments.at[first + 3];
    stored.high[decltype(constant)::value] = four;
  });
}
static_assert((high::moment_terms - high::first_high_moment) % 4 != 1, "the last vector has two moments or more");

#endif

}  // namespace orrery
