#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/kernels/migration_facet.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/high_expansion.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {

/// What the arrays of octrees have room for.
struct OctreeRoom {
  int bodies = 0, cells = 0;          ///< of all trees
  int own_bodies = 0, own_cells = 0;  ///< of which there are keys; of which there are links and boxes
  int trees = 1;                      ///< of which there is the state
  int arriving = 0;                   ///< bodies that lie where the cells are, before these are built
  std::size_t sort_bytes = 0;
};

/// The memory of an octree on a device: 16 bytes per body of all trees and 64 per cell, and of its own 24 per body and
/// 56 per cell. High moments take more.
class OctreeArrays {
 public:
  explicit OctreeArrays(const cuda::Device& device) : device_{device} {}

  /// Throws UsageError if the GPU has not enough memory.
  void take(const OctreeRoom& room, FarField far) {
    const auto size = [](int count) { return static_cast<std::size_t>(count); };
    const std::size_t cells = size(room.cells), own_cells = size(room.own_cells), own_bodies = size(room.own_bodies);
    take(keys_, 2 * own_bodies, "the keys");
    take(numbers_, 2 * own_bodies, "the bodies' numbers");
    take(sorted_, size(room.bodies), "the sorted bodies");
    take(sort_space_, room.sort_bytes, "the sort's buffers");
    const std::size_t arriving = size(room.arriving);
    take(nodes_, std::max(cells, arriving / ids_per_node + 1), "the cells");
    for (auto* array : {&tests_, &moments_a_}) take(*array, std::max(cells, arriving), "the cells");
    take(moments_b_, cells, "the cells");
    if (far == FarField::high) take(high_moments_, cells * high::stored_vectors, "the cells' high moments");
    take(links_, own_cells, "the cells");
    for (auto* array : {&low_, &high_}) take(*array, own_cells, "the cells");
    take(groups_, own_cells + own_bodies / octree_group_values.all.front(), "the groups");
    take(state_, size(room.trees), "the counters");
  }

  /// Points a tree to the memory. It has the whole arrays, or is alone in those that hold what is its own.
  void apply_to(Octree& tree, bool has_whole_arrays) const {
    tree.state = state_.data();
    tree.bodies = sorted_.data();
    tree.nodes = nodes_.data();
    tree.tests = tests_.data();
    tree.moments_a = moments_a_.data();
    tree.moments_b = moments_b_.data();
    tree.high_moments = high_moments_.data();
    const int cells_before = has_whole_arrays ? 0 : tree.first_cell;
    tree.links = links_.data() - cells_before;
    tree.low = low_.data() - cells_before;
    tree.high = high_.data() - cells_before;
    tree.groups = groups_.data();
  }

  /// Of `count` bodies whose keys come first.
  KeyBuffers key_buffers(int count) const {
    return {keys_.data(), keys_.data() + count, numbers_.data(), numbers_.data() + count};
  }
  std::uint64_t* keys() const { return keys_.data(); }
  OctreeState* states() const { return state_.data(); }
  /// Of so many bodies as OctreeRoom::arriving says, until the cells are built.
  ResidentBodies arrived() const {
    return {.positions = tests_.data(), .velocities = moments_a_.data(), .ids = reinterpret_cast<int*>(nodes_.data())};
  }
  void* sort_space() const { return sort_space_.data(); }
  std::size_t sort_bytes() const { return sort_space_.size(); }

 private:
  static constexpr std::size_t ids_per_node = sizeof(OctreeNode) / sizeof(int);
  static constexpr std::size_t most_spare_bytes = std::size_t{256} << 20;  // of an array; taking it anew takes time

  template <class T>
  void take(cuda::DeviceArray<T>& array, std::size_t size, const char* what) {
    if (array.size() > size + most_spare_bytes / sizeof(T)) array = {};
    take_scratch(device_, array, size, std::string{"cuda-tree: "} + what, "fewer bodies");
  }

  const cuda::Device& device_;
  cuda::DeviceArray<std::uint64_t> keys_;
  cuda::DeviceArray<int> numbers_;
  cuda::DeviceArray<Vec4> sorted_, tests_, moments_a_, moments_b_, high_moments_;
  cuda::DeviceArray<unsigned char> sort_space_;
  cuda::DeviceArray<OctreeNode> nodes_;
  cuda::DeviceArray<OctreeLinks> links_;
  cuda::DeviceArray<Vec4> low_, high_;
  cuda::DeviceArray<OctreeGroup> groups_;
  cuda::DeviceArray<OctreeState> state_;
};

}  // namespace orrery
