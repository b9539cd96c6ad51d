#pragma once

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

#include <cstddef>

#include "compute/core/vec.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/tree_cube.h"
#include "compute/kernels/tree_facet.h"

// Octree that threads build with locks, in index arrays (Burtscher and Pingali's scheme, see docs/literature.md).
namespace orrery {

/// Counters of a tree in device memory, shared by all threads.
struct LockCounters {
  static constexpr int most_boxes = 1024;

  Vec4 least[most_boxes], greatest[most_boxes];  ///< one box per block of kernel 1; greatest.w: the block's largest
                                                 ///< mass
  float mass;                                    ///< largest mass of all bodies
  unsigned blocks_done;                          ///< number of finished blocks of kernel 1; 0 before and after it
  /// Counts of the tree. Before the walk, `cells` counts requested cells; those beyond LockTree::most_cells do not
  /// exist.
  TreeCounts counts;
  int sorted, walked;  ///< number of cells claimed by kernel 4, and of bodies claimed by kernel 5
};

/// Octree of bodies and cells, together called nodes. Node indices below `count` are bodies; node `count + c` is cell
/// c. The root is cell 0, and a parent has a smaller index than its children. A cell has eight places for nodes.
///
/// Bodies share one place, as a list, if they are in the same deepest cell or if no cell is left.
struct LockTree {
  static constexpr int null = -1;    ///< a place without a node
  static constexpr int locked = -2;  ///< a place that a thread is about to change
  /// Largest node index that is a list. The head of list `node` is body `last_list - node`.
  static constexpr int last_list = -3;
  static constexpr int max_level = 31;  ///< deepest level of a cell; the root has 0
  static constexpr int cell_bits = 26;  ///< number of low bits of a stack entry that hold a cell's index; the five bits
                                        ///< above hold its level

  int count = 0;
  int most_cells = 0;
  const Vec4* bodies = nullptr;  ///< in the caller's order: x, y, z, m
  LockCounters* counters = nullptr;
  /// Eight entries per node index. The entries of bodies are not places: their memory holds the next three arrays.
  int* places = nullptr;
  Vec4* sorted = nullptr;  ///< bodies in tree order and in the tree's units; after the walk, accelerations and masses
  int* order = nullptr;    ///< index of each sorted body in the caller's order
  int* next = nullptr;     ///< next body of a list; null at its end
  // Arrays with one entry per cell, or eight in `members`:
  Vec4* cubes = nullptr;    ///< center, half of the edge
  Vec4* members = nullptr;  ///< centers and masses of the nodes in the eight places, in units(); mass 0: no node
  /// Lower 32 bits: number of bodies counted in a cell so far. Upper 32 bits: number of child cells that are still
  /// missing.
  unsigned long long* arrivals = nullptr;
  /// Index in `sorted` of a cell's first body. Before it is known: ~i, where place i points to the cell.
  int* first = nullptr;

  /// Returns the capacity for cells. It is enough unless many pairs are very close: each such pair needs a chain of
  /// cells.
  static constexpr int room_for_cells(int count) { return count + 1024; }
  /// Limit for which place indices fit into int, and cell indices into cell_bits bits.
  static constexpr int most_bodies = (1 << cell_bits) - 1024;

  static constexpr std::size_t places_for(int count) {
    return 8 * (static_cast<std::size_t>(count) + static_cast<std::size_t>(room_for_cells(count)));
  }
  /// Divides `memory`, places_for(count) ints, into the places and the arrays of the bodies.
  void divide(int* memory) {
    const auto n = static_cast<std::size_t>(count);
    places = memory;
    sorted = reinterpret_cast<Vec4*>(memory);
    order = memory + 4 * n;
    next = memory + 5 * n;
  }

#if defined(__CUDACC__)
  /// Returns the units of the tree. Levels begin at the root cube; `cubes` and `bodies` are in the units of the bodies.
  __device__ TreeUnits units() const {
    return TreeUnits{TreeCube{.low = {}, .size = 2 * cubes[0].w, .mass = counters->mass}};
  }
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
/// Reads a value that other threads may change.
template <class T>
__device__ T observed(const T* at) {
  return *const_cast<const volatile T*>(at);
}
template <class T>
__device__ void publish(T* at, T value) {
  *const_cast<volatile T*>(at) = value;
}

/// Reads a value stored by release(). All earlier stores of the storing thread are then visible.
__device__ inline int acquired(int* at) {
  return ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.load(::cuda::std::memory_order_acquire);
}
/// Stores a value. A thread that reads this value by acquired() sees all earlier stores of this thread.
__device__ inline void release(int* at, int value) {
  ::cuda::atomic_ref<int, ::cuda::thread_scope_device>{*at}.store(value, ::cuda::std::memory_order_release);
}
/// Adds `value` and returns the sum. This thread then sees all earlier stores of the threads that added before.
__device__ inline unsigned long long meet(unsigned long long* at, unsigned long long value) {
  using Shared = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
  return Shared{*at}.fetch_add(value, ::cuda::std::memory_order_acq_rel) + value;
}

/// Claims the next `items` items for a warp, and returns the first. Running warps have claimed all earlier items, so a
/// warp may wait for those.
__device__ inline int claim(int* claimed, int items) {
  int first = 0;
  if (threadIdx.x % 32 == 0) first = atomicAdd(claimed, items);
  return __shfl_sync(cuda::all_lanes, first, 0);
}
#endif

}  // namespace orrery
