#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "compute/core/force_law.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/tree/octree.h"

// The phases of an evaluation by the octree, in order. Each enqueues work on a stream of the active device and returns.
namespace orrery {

/// Computes the bodies' keys along Hilbert's curve, in the bodies' own order, and their numbers 0, 1, ... A body
/// farther from the mean than 1024 times the mean distance gets a key at the border. So the other keys have enough
/// digits. `tree` needs its count and its state alone.
void find_keys(const cuda::Device& device, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
               cudaStream_t stream);
/// The same in a cube that is known, in device memory.
void find_keys_in(const TreeCube* cube, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
                  cudaStream_t stream);

/// The passes of find_keys() over the bodies of one of several devices. First the extent of its own bodies, and their
/// deviation from `center`, in device memory; null: from the origin. The state has no bodies at first; ...
void find_extent_around(const cuda::Device& device, const Vec3* center, OctreeState* state, const Vec4* bodies,
                        int count, cudaStream_t stream);
/// ... then, from what that gave on all devices, the cube of all bodies, and their mean. All devices find the same.
void find_cube(const OnAll<const OctreeState>& extents, int of_all, TreeCube* cube, Vec3* mean, cudaStream_t stream);

/// Two buffers of N entries each. The first holds the keys and the numbers; the sort may swap the two.
struct KeyBuffers {
  std::uint64_t *keys, *other_keys;
  int *numbers, *other_numbers;
};
/// Bytes of scratch memory that sort_keys needs for this many bodies.
std::size_t sort_bytes(const cuda::Device& device, int count);
/// Sorts by key; keys and numbers are then in `buffers.keys` and `buffers.numbers`.
void sort_keys(KeyBuffers& buffers, int count, void* scratch, std::size_t scratch_bytes, cudaStream_t stream);

/// sorted[i] = bodies[order[i]] for i in [0, count).
void gather_bodies(const Vec4* bodies, const int* order, int count, Vec4* sorted, cudaStream_t stream);

/// is_target[i] = 1 if body i of `count` is among the targets, else 0.
void mark_targets(const Targets& targets, int count, unsigned char* is_target, cudaStream_t stream);

/// Makes the cells, row by row from the root. If `keeps_cells`, keeps the cells of an earlier call for the same number
/// of bodies instead. Then computes the boxes and moments of the current bodies, from the last row up. The tree has at
/// least one body, and its state is as a search for its keys left it.
void build_octree(const cuda::Device& device, const Octree& tree, bool keeps_cells, cudaStream_t stream);

/// Computes tree.accelerations, and counts the interactions in tree.state. `is_target`: one byte per body in their own
/// order, nonzero if its acceleration is wanted; null: all are wanted. Other accelerations are then undefined.
void walk_octree(const cuda::Device& device, const Octree& tree, const Law& law, const unsigned char* is_target,
                 cudaStream_t stream);
/// The function and the number of blocks that walk_octree launches.
cudaKernel_t walk_octree_function(LawId law, FarField far);
int walk_octree_blocks(const cuda::Device& device, LawId law, FarField far, int count, int split);
inline constexpr int walk_octree_block = 64;  ///< threads

/// What the walk of a body's group met.
struct WalkFound {
  int place;          ///< of the body, in the order of the keys; -1: it is not in this tree
  OctreeGroup group;  ///< that it walks with; empty if it is not in this tree
  int cells, leaves;  ///< that counted as a whole; whose bodies were met one by one
  int bodies;         ///< in those leaves
};
/// Device memory for one walk: the counts, and the numbers of up to `most` cells and leaves.
struct WalkRecord {
  WalkFound* found;
  int *cells, *leaves;
  int most;
};
/// Repeats the walk of a body's group after walk_octree, with the same tests, and records it. The tree needs its order.
void record_walk(const cuda::Device& device, const Octree& tree, const Law& law, int body, const WalkRecord& record,
                 cudaStream_t stream);

}  // namespace orrery
