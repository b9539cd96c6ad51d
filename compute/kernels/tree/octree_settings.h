#pragma once

#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {

/// The settings of cuda-tree, and what those that are `auto` stand for.
class OctreeSettings {
 public:
  OctreeSettings(const Settings& settings, const cuda::Device& device)
      : theta_{theta(settings)},
        tolerance_{tolerance(settings)},
        leaf_{settings.integer("leaf")},
        group_{settings.integer("group")},
        split_{settings.integer("split")},
        far_{far_field(settings)},
        rebuild_{settings.integer("rebuild")},
        multiprocessors_{device.multiprocessors()} {}

  FarField far() const { return far_; }
  int leaf() const { return leaf_; }
  /// Evaluations from one sort to the next, at most.
  int rebuild() const { return rebuild_; }
  /// Bodies in a group, of `count` bodies.
  int group_for(int count) const {
    constexpr int many = 1 << 18;
    return group_ > 0 ? group_ : count < many ? 32 : 64;
  }
  /// Doubles the warps until they fill the GPU and a quarter more. Each of them tests all cells, which costs more than
  /// it gains where there are enough warps. Of `count` bodies, `bodies` walk, of which `targets` count. Of the walk
  /// with high moments only 12 warps are resident, but measured on an H100, it gains from as many warps as the others.
  int split_for(int count, int bodies, int targets) const {
    if (split_ > 0) return split_;
    constexpr int resident_warps = 20;  // of a multiprocessor
    const int wanted = resident_warps * multiprocessors_ * 5 / 4;
    const int groups = std::min(cuda::ceil_div(bodies, group_for(count)), targets);
    int split = 1;
    while (split < octree_split_values.largest && groups * split < wanted) split *= 2;
    return split;
  }
  /// Sets what the settings decide in the tree of some of `count` bodies.
  void apply_to(Octree& tree, int count) const {
    tree.leaf = leaf_;
    tree.group = group_for(count);
    tree.theta = theta_;
    tree.tolerance = tolerance_;
    tree.far = far_;
  }

 private:
  float theta_, tolerance_;
  int leaf_, group_, split_;  // group and split 0: auto
  FarField far_;
  int rebuild_;
  int multiprocessors_;
};

}  // namespace orrery
