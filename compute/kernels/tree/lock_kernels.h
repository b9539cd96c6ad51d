#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "compute/core/force_law.h"
#include "compute/kernels/tree/lock_tree.h"

namespace orrery {

struct LockLaunch {
  int blocks;
  int block;  ///< threads, a multiple of 32
  cudaStream_t stream;
};

// Kernels 1 to 5 of NYU lecture 13 (docs/literature.md, row 11). The caller launches the sixth, which updates the
// bodies. Each launch has its own parameters in constant memory, so trees on several streams do not share them.

/// 1: makes a cube around all bodies the root, and resets all counters. The cube ignores a body with a coordinate that
/// is not finite or beyond 1e30; that body goes to a cell at the border. Launch at most LockCounters::most_boxes
/// blocks.
void find_bounding_box(const LockTree& tree, const LockLaunch& launch);
/// 2: inserts every body. If `throttled`, the threads of a block wait for each other after each attempt.
void insert_bodies(const LockTree& tree, bool throttled, const LockLaunch& launch);
/// 3: computes each cell's center of mass, mass and number of bodies, from the leaves up.
void sum_cells(const LockTree& tree, const LockLaunch& launch);
/// 4: sorts the bodies in the order of the tree, from the root down.
void sort_bodies(const LockTree& tree, const LockLaunch& launch);
/// 5: stores the accelerations in tree.sorted. A cell counts as one body if its edge is less than `theta` times the
/// distance of its center of mass from every body of the warp.
void walk_tree(const LockTree& tree, const Law& law, float theta, const LockLaunch& launch);

/// The launched functions, for occupancy queries.
cudaKernel_t insert_bodies_function(bool throttled);
cudaKernel_t sum_cells_function();
cudaKernel_t sort_bodies_function();
cudaKernel_t walk_tree_function(LawId law);
/// Bytes of dynamic shared memory that walk_tree needs per thread.
extern const std::size_t walk_bytes_per_thread;

}  // namespace orrery
