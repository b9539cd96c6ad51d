#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/division.h"
#include "compute/kernels/tree/octree.h"

namespace orrery {

/// Boxes around all groups of a domain, sorted along the curve so that neighbouring boxes can be bundled.
struct DomainOutline {
  static constexpr int most = 1024;

  int boxes;
  Vec4 low[most], high[most];  ///< corners; low.w: largest reach scale of the box's groups, see Octree
};

/// Arrays of one device that hold the trees of all devices.
struct TreePlaces {
  const DomainOutline* outline;  ///< outline of the device's own domain
  Vec4* bodies;
  OctreeNode* nodes;
  Vec4 *tests, *moments_a, *moments_b, *high_moments;
};

/// Sends other devices the part of this device's tree that their walks need, to the same indices of their arrays. This
/// part is a locally essential tree (Salmon 1990, PhD thesis, Caltech; Warren & Salmon 1992).
///
/// Each device outlines its domain by boxes around cells of its tree. The children of a cell, or the bodies of a leaf,
/// are sent if a group in one of these boxes may open the cell. Opening depends on the group's acceleration. So walks
/// note, by place in key order, how far away groups open cells: the latest walk of all groups, and later walks of some
/// groups.
///
/// The notes allow for small changes until the next walk. After a larger change, a walk may count some cells as a whole
/// although the tolerance would open them; this lasts for one evaluation. A cell whose children are not sent is marked
/// so that it always counts as a whole, and no walk looks for the children.
class EssentialTrees {
 public:
  explicit EssentialTrees(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for device `index`. Throws UsageError if memory is short.
  void prepare(int index);
  /// Connects the objects of all devices, by index. `arrays`: each device's arrays of all trees.
  void connect(std::span<const EssentialTrees* const> all, std::span<const Octree> arrays);
  /// Discards the notes, so that the next evaluation sends everything. Call when the notes are stale.
  void forget() { knows_reach_ = false; }

  /// Makes walks of `tree` note the reach scales that the next outline() needs.
  void note_in(Octree& tree) const;
  /// Enqueues the outline of this device's domain. Call when the tree is built, before all (`walks_all`) or some of its
  /// groups walk. The host must enqueue that walk before it calls outline() again.
  void outline(const Octree& tree, bool walks_all, cudaStream_t stream);
  const cuda::DeviceArray<DomainOutline>& outlined() const { return outline_; }
  /// Enqueues the transfer of cells and bodies to the other devices. Call when all devices have outlined their domains,
  /// before any of them walks.
  void send(const Octree& tree, cudaStream_t stream) const;

 private:
  const cuda::Device& device_;
  int index_ = 0, others_ = 0;
  bool knows_reach_ = false;
  cuda::DeviceArray<DomainOutline> outline_;
  cuda::DeviceArray<float> reach_scales_;
  TreePlaces to_[most_devices];  // arrays of the other devices, in cyclic order after this one
};

/// A cell in the form that is sent, with its index.
struct PackedCell {
  alignas(16) int number;
  int first;               ///< as OctreeNode::first
  int bodies_or_children;  ///< positive: number of a leaf's bodies; negative: minus the number of children
  float reach;
  Vec4 test, moments_a, moments_b;
};

/// Packs the cells and bodies that other devices need (locally essential trees) into blocks, and unpacks received
/// blocks into the arrays of all trees. Used if devices cannot access each other's memory.
class PackedTrees {
 public:
  using Blocks = PartitionFacet::Blocks;

  explicit PackedTrees(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for device `index` of `devices`. Throws UsageError if memory is short.
  void prepare(int index, int devices);
  DeviceBlock place_of_outline(int index) const;
  /// Packs cells and bodies, and returns the blocks to send to each device, by index. Needs the outlines of all
  /// devices. See ChoiceFacet::choose().
  std::vector<Blocks> choose(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);
  /// Returns where to receive blocks of these sizes, in bytes, from device `index`.
  Blocks places(int index, std::span<const std::size_t> sizes);
  /// Enqueues the unpacking of all received blocks into the trees' arrays.
  void take(const Octree& tree, cudaStream_t stream) const;

 private:
  /// Cells and bodies of a tree, received from or packed for one device.
  struct Packed {
    int cells = 0, bodies = 0;
    int too_large = 0;  ///< number of consecutive evaluations for which the memory was far too large
    static constexpr int most_too_large = 64;
    cuda::DeviceArray<PackedCell> of_cells;
    cuda::DeviceArray<Vec4> high_moments;  ///< high moments of the cells, if they have any
    cuda::DeviceArray<int> numbers;        ///< indices of the bodies
    cuda::DeviceArray<Vec4> of_bodies;

    int room_for_cells(bool has_high) const;
    int room_for_bodies() const { return static_cast<int>(std::min(numbers.size(), of_bodies.size())); }
    bool is_to_shrink() const { return too_large >= most_too_large; }
    bool has_room(bool has_high) const { return cells <= room_for_cells(has_high) && bodies <= room_for_bodies(); }
  };

  /// Resizes the memory for packed.cells and packed.bodies. Earlier contents may be lost.
  void fit_memory(Packed& packed, bool has_high) const;
  static Blocks blocks_of(const Packed& packed, bool has_high);
  /// Counts the cells and bodies that the other devices need, and packs as many as fit.
  void pack(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  cuda::DeviceArray<DomainOutline> outlines_;  // outlines of the other devices, by index
  cuda::DeviceArray<int> counts_;              // {cells, bodies} for each other device, in cyclic order after this one
  cuda::HostArray<int> counted_;               // copy of counts_ on the host
  std::vector<Packed> sent_, received_;        // one entry per device
};

}  // namespace orrery
