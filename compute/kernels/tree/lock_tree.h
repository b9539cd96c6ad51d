#pragma once

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

#include <cstddef>

#include "compute/core/vec.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree_facet.h"

// The octree that threads build with locks, in index arrays: what its kernels share (literature row 11).
namespace orrery {

/// What all threads count together, one of it a tree, in device memory.
struct LockCounters {
  static constexpr int most_boxes = 1024;

  Vec4 least[most_boxes], greatest[most_boxes];  ///< of the bounding box's blocks; w is unused
  unsigned blocks_done;                          ///< of the bounding box; 0 before and after it
  /// Cells are those asked for until the walk; where they pass LockTree::most_cells there were no more.
  TreeCounts counts;
  int sorted, walked;  ///< what warps have claimed in these kernels
};

/// Nodes are numbered bodies first, cells last: below `count` a body, from there on cell `node - count`, the root being
/// cell 0 and each cell after the one that holds it. A cell has eight places for nodes.
///
/// Bodies that the deepest cells cannot tell apart, or that no cell is left for, form a list in one place.
struct LockTree {
  static constexpr int null = -1;    ///< a place without a node
  static constexpr int locked = -2;  ///< a place that a thread is about to change
  /// And from here down, to body `last_list - node`, the head of a list.
  static constexpr int last_list = -3;
  static constexpr int max_level = 31;  ///< of a cell; the root has 0
  static constexpr int cell_bits = 26;  ///< what a stack entry has for a cell, below five for its level

  int count = 0;
  int most_cells = 0;
  const Vec4* bodies = nullptr;  ///< as the caller has them: x, y, z, m
  LockCounters* counters = nullptr;
  /// Eight places a node. Bodies have none, so that their part of the array holds what only bodies have:
  int* places = nullptr;
  Vec4* sorted = nullptr;  ///< bodies in the order of the tree; in the end the acceleration in x, y, z
  int* order = nullptr;    ///< their numbers
  int* next = nullptr;     ///< in a body's list; null at its end
  // One or eight a cell:
  Vec4* cubes = nullptr;    ///< center, half of the edge
  Vec4* members = nullptr;  ///< centers and masses of the nodes in the eight places, side by side; none has no mass
  /// How many bodies are known to be in a cell, and above these 32 bits how many of its cells have yet to tell.
  unsigned long long* arrivals = nullptr;
  /// Where its bodies begin in `sorted`; until that is known ~ of the place that leads to it, counted from cell 0 on.
  int* first = nullptr;

  /// Room for the cells of any system but those with many pairs so close that only cells around each tell them apart.
  static constexpr int room_for_cells(int count) { return count + 1024; }
  /// So many that numbers of places fit an int, and numbers of cells cell_bits.
  static constexpr int most_bodies = (1 << cell_bits) - 1024;

  static constexpr std::size_t places_for(int count) {
    return 8 * (static_cast<std::size_t>(count) + static_cast<std::size_t>(room_for_cells(count)));
  }
  /// Makes `memory`, room for places_for(count) numbers, hold the places and what only bodies have.
  void divide(int* memory) {
    const auto n = static_cast<std::size_t>(count);
    places = memory;
    sorted = reinterpret_cast<Vec4*>(memory);
    order = memory + 4 * n;
    next = memory + 5 * n;
  }

#if defined(__CUDACC__)
  __device__ int* places_of(int cell) const {
    return places + 8 * static_cast<std::size_t>(count + cell);
  }
  __device__ int bodies_in(int cell) const {
    return static_cast<int>(arrivals[cell]);
  }
  __device__ int head(int place) const {
    return place <= last_list ? last_list - place : place;
  }
  __device__ int cells() const {
    return min(counters->counts.cells, most_cells);
  }
#endif
};

#if defined(__CUDACC__)
/// A number that other threads change meanwhile.
template <class T>
__device__ T observed(const T* at) {
  return *const_cast<const volatile T*>(at);
}
template <class T>
__device__ void publish(T* at, T value) {
  *const_cast<volatile T*>(at) = value;
}

/// A number that another thread may have stored by release(): with it, all that came before.
__device__ inline int acquired(int* at) {
  return ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.load(::cuda::std::memory_order_acquire);
}
/// For the last store that makes others see what was stored before.
__device__ inline void release(int* at, int value) {
  ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.store(value, ::cuda::std::memory_order_release);
}
/// The sum; with it a thread sees all that those who added before had stored.
__device__ inline unsigned long long meet(unsigned long long* at, unsigned long long value) {
  using Shared = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
  return Shared{*at}.fetch_add(value, ::cuda::std::memory_order_acq_rel) + value;
}

/// What a whole warp claims of work that is handed out in order: the number of its first item. All that come before
/// are claimed by warps that run, so a warp may wait for them.
__device__ inline int claim(int* claimed, int items) {
  int first = 0;
  if (threadIdx.x % 32 == 0) first = atomicAdd(claimed, items);
  return __shfl_sync(cuda::all_lanes, first, 0);
}
#endif

}  // namespace orrery
