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

// The first five of the lecture's six kernels; the sixth updates the bodies and is the caller's. Parameters of a kernel
// lie in constant memory, each launch's own, so that trees on several streams do not share them.

/// 1: makes the cube around all bodies the root, and resets all counters. A body with a coordinate that is not finite,
/// or beyond 1e18, does not count: it goes to a cell at the cube's border. At most LockCounters::most_boxes blocks.
void find_bounding_box(const LockTree& tree, const LockLaunch& launch);
/// 2: inserts every body. If `throttled`, the threads of a block wait for each other after each attempt.
void insert_bodies(const LockTree& tree, bool throttled, const LockLaunch& launch);
/// 3: centers of mass, masses and numbers of bodies, from the leaves up.
void sum_cells(const LockTree& tree, const LockLaunch& launch);
/// 4: brings the bodies into the order of the tree, from the root down.
void sort_bodies(const LockTree& tree, const LockLaunch& launch);
/// 5: accelerations in tree.sorted. A cell whose edge is less than `theta` times its center's distance from each of a
/// warp's bodies counts as one body.
void walk_tree(const LockTree& tree, const Law& law, float theta, const LockLaunch& launch);

/// The launched functions, for occupancy queries.
cudaKernel_t insert_bodies_function(bool throttled);
cudaKernel_t sum_cells_function();
cudaKernel_t sort_bodies_function();
cudaKernel_t walk_tree_function(LawId law);
/// Dynamic shared memory of walk_tree for each thread of a block.
extern const std::size_t walk_bytes_per_thread;

}  // namespace orrery
