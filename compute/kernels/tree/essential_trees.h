#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "compute/cuda/arrays.h"
#include "compute/kernels/division_facet.h"
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

}  // namespace orrery
