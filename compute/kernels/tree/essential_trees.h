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

/// Boxes around all groups of a domain, sorted along the curve so that neighbours can be bundled.
struct DomainOutline {
  static constexpr int most = 1024;

  int boxes;
  Vec4 low[most], high[most];  ///< corners; w of the low one: the greatest reach scale of its groups
};

/// Where a device has the trees of all.
struct TreePlaces {
  const DomainOutline* outline;  ///< of its own domain
  Vec4* bodies;
  OctreeNode* nodes;
  Vec4 *tests, *moments_a, *moments_b, *high_moments;
};

/// Sends other devices what their walks need of this device's tree (a locally essential tree: Salmon 1990, PhD thesis,
/// Caltech; Warren & Salmon 1992), to the places that it has in their arrays.
///
/// A device outlines its domain by boxes around cells of its tree. The children of a cell, or the bodies of a leaf, are
/// sent if a group in one of these boxes may open it. This depends on the pull on the group. Walks note how far groups
/// open cells, by their place in the order of the keys: the latest walk of all groups, and those of some groups since.
/// Some change until the next walk is allowed for; after a larger one, cells that the tolerance would open may count as
/// a whole, in one evaluation. A cell whose children are not sent is sent as one that always counts as a whole, so that
/// no walk looks for them.
class EssentialTrees {
 public:
  explicit EssentialTrees(const cuda::Device& device) : device_{device} {}

  /// For the device `index`. Throws UsageError if there is no memory.
  void prepare(int index);
  /// Of all devices, by index. `arrays`: of all trees, as octrees have them.
  void connect(std::span<const EssentialTrees* const> all, std::span<const Octree> arrays);
  /// Call when the notes are stale: the next evaluation sends all.
  void forget() { knows_reach_ = false; }

  /// The tree's walks note what outline() needs after them.
  void note_in(Octree& tree) const;
  /// When the tree is built, before a walk of all its groups or of some. The host enqueues the walk before its next
  /// call.
  void outline(const Octree& tree, bool walks_all, cudaStream_t stream);
  const cuda::DeviceArray<DomainOutline>& outlined() const { return outline_; }
  /// When all devices have outlined their domains, and before they walk.
  void send(const Octree& tree, cudaStream_t stream) const;

 private:
  const cuda::Device& device_;
  int index_ = 0, others_ = 0;
  bool knows_reach_ = false;
  cuda::DeviceArray<DomainOutline> outline_;
  cuda::DeviceArray<float> reach_scales_;
  TreePlaces to_[most_devices];  // the others, the next one first
};

/// A cell as it is sent, with its number.
struct PackedCell {
  alignas(16) int number;
  int first;               ///< as OctreeNode has it
  int bodies_or_children;  ///< bodies of a leaf, or children as a negative number
  float reach;
  Vec4 test, moments_a, moments_b;
};

/// What EssentialTrees sends, for devices that do not see each other's memory: what one device needs is packed into
/// blocks, and put into the arrays of all trees where it has arrived.
class ChosenTrees {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit ChosenTrees(const cuda::Device& device) : device_{device} {}

  /// For the device `index` of so many. Throws UsageError if there is no memory.
  void prepare(int index, int devices);
  DeviceBlock place_of_outline(int index) const;
  /// When all outlines are there: what each other device needs of this tree, by index. See ChoiceFacet::choose().
  std::vector<Blocks> choose(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);
  /// For blocks of these sizes from the device `index`.
  Blocks places(int index, std::span<const std::size_t> sizes);
  /// Enqueues what puts all that has arrived into the arrays of the trees.
  void take(const Octree& tree, cudaStream_t stream) const;

 private:
  /// Cells and bodies of a tree, of one device or for one.
  struct Packed {
    int cells = 0, bodies = 0;
    int too_large = 0;  ///< for so many evaluations, the memory has been far larger than they needed
    static constexpr int most_too_large = 64;
    cuda::DeviceArray<PackedCell> of_cells;
    cuda::DeviceArray<Vec4> high_moments;  ///< of the cells, if they have any
    cuda::DeviceArray<int> numbers;        ///< of the bodies
    cuda::DeviceArray<Vec4> of_bodies;

    int room_for_cells(bool has_high) const;
    int room_for_bodies() const { return static_cast<int>(std::min(numbers.size(), of_bodies.size())); }
    bool is_to_shrink() const { return too_large >= most_too_large; }
    bool has_room(bool has_high) const { return cells <= room_for_cells(has_high) && bodies <= room_for_bodies(); }
  };

  /// For what is noted in it; what was in it may be lost.
  void take_room(Packed& packed, bool has_high) const;
  static Blocks blocks_of(const Packed& packed, bool has_high);
  /// Notes what the others need, and packs what there is room for.
  void pack(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  cuda::DeviceArray<DomainOutline> outlines_;  // of others, by index
  cuda::DeviceArray<int> counts_;              // of each other device, the next one first: cells, bodies
  cuda::HostArray<int> counted_;               // the same for the host
  std::vector<Packed> given_, taken_;          // by index
};

}  // namespace orrery
