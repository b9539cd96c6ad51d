#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "compute/cuda/device_array.h"
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
/// A device outlines its domain: by boxes around cells of its tree. A cell's children, or a leaf's bodies, are sent if
/// a group in one of these boxes may open the cell. This depends on the pull on the group, of which the walk before
/// tells; a tenth more is allowed for. A cell whose children are not sent is sent as one that always counts as a
/// whole: so a walk never meets what is not there.
class EssentialTrees {
 public:
  explicit EssentialTrees(const cuda::Device& device) : device_{device} {}

  /// For the device `index`, which holds bodies. Throws UsageError if there is no memory.
  void prepare(int index);
  /// Of all devices, by index. `trees`: the present ones, in the arrays of all trees.
  void connect(std::span<const EssentialTrees* const> all, std::span<const Octree* const> trees);
  /// The last walk says nothing about the next, which gets all that the others have.
  void forget() { knows_reach_ = false; }

  /// The tree's walks note what outline() needs after them.
  void note_in(Octree& tree) const;
  /// When the tree is built. The host enqueues the walk before its next call.
  void outline(const Octree& tree, cudaStream_t stream);
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
