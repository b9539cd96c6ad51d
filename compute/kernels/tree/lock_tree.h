#pragma once

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

#include <cstddef>

#include "compute/core/vec.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree_facet.h"

// The octree that threads build with locks, in index arrays (literature row 11).
namespace orrery {

/// The counters of a tree, which all threads share, in device memory.
struct LockCounters {
  static constexpr int most_boxes = 1024;

  Vec4 least[most_boxes], greatest[most_boxes];  ///< of the bounding box's blocks; w is unused
  unsigned blocks_done;                          ///< of the bounding box; 0 before and after it
  /// Until the walk, `cells` counts requests; those beyond LockTree::most_cells got none.
  TreeCounts counts;
  int sorted, walked;  ///< what warps have claimed in these kernels
};

/// Node numbers below `count` are bodies; node `count + c` is cell c. The root is cell 0, and a parent's number is less
/// than its children's. A cell has eight places for nodes.
///
/// Bodies that share a deepest cell, or for which no cell is left, form a list in one place.
struct LockTree {
  static constexpr int null = -1;    ///< a place without a node
  static constexpr int locked = -2;  ///< a place that a thread is about to change
  /// Node numbers from here down are lists: the head is body `last_list - node`.
  static constexpr int last_list = -3;
  static constexpr int max_level = 31;  ///< of a cell; the root has 0
  static constexpr int cell_bits = 26;  ///< of a cell's number in a stack entry, below five bits for its level

  int count = 0;
  int most_cells = 0;
  const Vec4* bodies = nullptr;  ///< in the caller's order: x, y, z, m
  LockCounters* counters = nullptr;
  /// Eight places per cell. The array has as many for each body, whose part holds these arrays of the bodies:
  int* places = nullptr;
  Vec4* sorted = nullptr;  ///< bodies in the order of the tree; in the end the acceleration in x, y, z
  int* order = nullptr;    ///< their numbers
  int* next = nullptr;     ///< in a body's list; null at its end
  // One or eight per cell:
  Vec4* cubes = nullptr;    ///< center, half of the edge
  Vec4* members = nullptr;  ///< centers and masses of the nodes in the eight places; mass 0: no node
  /// Lower 32 bits: the bodies counted in a cell so far. Upper 32 bits: how many of its cells are still missing.
  unsigned long long* arrivals = nullptr;
  /// Where a cell's bodies begin in `sorted`. Until that is known: ~ of the cell's place, counted from cell 0.
  int* first = nullptr;

  /// Enough cells for all systems except those with many very close pairs, each of which takes cells of its own.
  static constexpr int room_for_cells(int count) { return count + 1024; }
  /// The numbers of places must fit an int, and those of cells cell_bits.
  static constexpr int most_bodies = (1 << cell_bits) - 1024;

  static constexpr std::size_t places_for(int count) {
    return 8 * (static_cast<std::size_t>(count) + static_cast<std::size_t>(room_for_cells(count)));
  }
  /// Divides `memory`, of places_for(count) numbers, into the places and the arrays of the bodies.
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
/// Reads a number that other threads may change.
template <class T>
__device__ T observed(const T* at) {
  return *const_cast<const volatile T*>(at);
}
template <class T>
__device__ void publish(T* at, T value) {
  *const_cast<volatile T*>(at) = value;
}

/// Reads a number stored by release(), and sees all that its thread stored before.
__device__ inline int acquired(int* at) {
  return ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.load(::cuda::std::memory_order_acquire);
}
/// Stores a number so that a thread which reads it by acquired() sees all stores before this one.
__device__ inline void release(int* at, int value) {
  ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.store(value, ::cuda::std::memory_order_release);
}
/// Adds and returns the sum. The thread then sees all stores of the threads that added before.
__device__ inline unsigned long long meet(unsigned long long* at, unsigned long long value) {
  using Shared = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
  return Shared{*at}.fetch_add(value, ::cuda::std::memory_order_acq_rel) + value;
}

/// Claims the next `items` items for a warp and returns the first. Running warps have claimed all items before it, so a
/// warp may wait for them.
__device__ inline int claim(int* claimed, int items) {
  int first = 0;
  if (threadIdx.x % 32 == 0) first = atomicAdd(claimed, items);
  return __shfl_sync(cuda::all_lanes, first, 0);
}
#endif

}  // namespace orrery
