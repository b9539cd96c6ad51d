#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "compute/core/law.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/tree/octree.h"

// Phases of an evaluation by the octree, in order. Each enqueues work on a stream of the active device and returns.
namespace orrery {

/// Computes the bodies' Hilbert keys, in the bodies' original order, and numbers them 0, 1, ... A body farther from the
/// mean than 1024 times the mean distance gets a key at the border, so that the other keys have enough digits. Of
/// `tree`, only count and state are used.
void find_keys(const cuda::Device& device, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
               cudaStream_t stream);
/// Computes the keys in a known cube, in device memory.
void find_keys_in(const TreeCube* cube, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
                  cudaStream_t stream);

/// First of the passes of find_keys() for bodies spread over several devices. Finds the extent of this device's bodies,
/// and their deviation from `center` (in device memory; null: the origin). The state must be
/// OctreeState::without_bodies().
void find_extent_around(const cuda::Device& device, const Vec3* center, OctreeState* state, const Vec4* bodies,
                        int count, cudaStream_t stream);
/// Second of these passes: from the extents of all devices, finds the cube and the mean of all bodies. All devices find
/// the same.
void find_cube(const OnAll<const OctreeState>& extents, int of_all, TreeCube* cube, Vec3* mean, cudaStream_t stream);

/// Two buffers of N entries each. The first holds the keys and the numbers; the sort may swap the two.
struct KeyBuffers {
  std::uint64_t *keys, *other_keys;
  int *numbers, *other_numbers;
};
/// Returns the bytes of scratch memory that sort_keys() needs for `count` bodies.
std::size_t sort_bytes(const cuda::Device& device, int count);
/// Sorts by key. The result is in `buffers.keys` and `buffers.numbers`.
void sort_keys(KeyBuffers& buffers, int count, void* scratch, std::size_t scratch_bytes, cudaStream_t stream);

/// Sets sorted[i] = bodies[order[i]] for i in [0, count).
void gather_bodies(const Vec4* bodies, const int* order, int count, Vec4* sorted, cudaStream_t stream);

/// Sets is_target[i] to 1 if body i of `count` is among the targets, else to 0.
void mark_targets(const Targets& targets, int count, unsigned char* is_target, cudaStream_t stream);

/// Makes the cells, row by row from the root; if `keeps_cells`, keeps those of an earlier call for the same number of
/// bodies. Then computes the boxes and moments of the current bodies, from the last row up. The tree must have at least
/// one body, and its state must come from finding the keys.
void build_octree(const cuda::Device& device, const Octree& tree, bool keeps_cells, cudaStream_t stream);

/// Computes tree.accelerations, and counts the interactions in tree.state. `is_target`: one byte per body in original
/// order, nonzero if its acceleration is wanted; null: all are wanted. Other accelerations are undefined.
void walk_octree(const cuda::Device& device, const Octree& tree, const Law& law, const unsigned char* is_target,
                 cudaStream_t stream);
/// Return the function and the number of blocks that walk_octree() launches.
cudaKernel_t walk_octree_function(LawId law, FarField far);
int walk_octree_blocks(const cuda::Device& device, LawId law, FarField far, int count, int split);
inline constexpr int walk_octree_block = 64;  ///< threads

/// Cells and bodies that the walk of a body's group met.
struct WalkFound {
  int place;          ///< place of the body in key order; -1: not in this tree
  OctreeGroup group;  ///< the body's group; empty if it is not in this tree
  int cells, leaves;  ///< cells that counted as a whole; leaves whose bodies were met one by one
  int bodies;         ///< number of bodies in those leaves
};
/// Device memory for one walk: the counts, and the indices of up to `most` cells and leaves.
struct WalkRecord {
  WalkFound* found;
  int *cells, *leaves;
  int most;
};
/// Repeats the walk of a body's group after walk_octree(), with the same tests, and records it. The tree needs its
/// order.
void record_walk(const cuda::Device& device, const Octree& tree, const Law& law, int body, const WalkRecord& record,
                 cudaStream_t stream);

}  // namespace orrery
