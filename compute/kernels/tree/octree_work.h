#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/cell_aging.h"
#include "compute/kernels/tree/octree_arrays.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree/octree_settings.h"
#include "compute/kernels/tree/tree_log.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {

/// What evaluations by an octree have on a device, whether the tree is of all bodies or of some of them.
struct OctreeWork {
  OctreeWork(const Settings& all_settings, const cuda::Device& on, std::span<const char* const> phases)
      : device{on}, settings{all_settings, on}, arrays{on}, log{on, phases}, period{on, settings.rebuild()} {}

  /// For other bodies.
  void forget() { period.forget(); }
  /// Before the memory changes: the cells must not be used again.
  void forget_tree() {
    tree = {};
    forget();
  }
  /// Begins an evaluation on the device that has the bodies.
  void begin(const ForceArgs& args) {
    if (!tree.order) forget();
    count = args.count;
    keeps_cells = period.keeps_cells(!args.targets);
    law = args.law;
    log.begin(args);
  }

  /// One byte per body, for walk_octree(); null if every body is wanted.
  const unsigned char* flags(const ForceArgs& args) const { return args.targets ? is_target.data() : nullptr; }
  /// Makes room for one flag per body, if there are targets.
  void take_flags(std::size_t bodies) {
    take_scratch(device, is_target, bodies, "cuda-tree: the flags of the targets", "fewer bodies");
  }
  /// Sets the flags of all bodies, if there are targets, on the device that has the bodies.
  void flag_targets(const ForceArgs& args) {
    if (!args.targets) return;
    take_flags(static_cast<std::size_t>(args.count));
    mark_targets(args.targets, args.count, is_target.data(), args.stream);
  }

  void build(const ForceArgs& args) const { build_octree(device, tree, keeps_cells, args.stream); }
  void walk(const ForceArgs& args) {
    const auto targets = static_cast<int>(static_cast<std::int64_t>(args.target_count()) * tree.count / args.count);
    tree.split = settings.split_for(args.count, tree.count, std::max(targets, 1));
    walk_octree(device, tree, args.law, flags(args), args.stream);
  }
  /// The last phase, on the device that has the bodies. `sums`: in the order `of_bodies`, which names the bodies.
  void finish(const ForceArgs& args, const Vec4* sums, const int* of_bodies, const TreeCounts* counts) {
    constexpr int block = 256;
    static_assert(block <= max_tree_block);
    log.finish(args, sums, of_bodies, counts, block, flags(args), args.targets ? nullptr : period.note());
  }
  /// The same where the bodies' devices finish them.
  void finish_counts(const ForceArgs& args, const TreeCounts* counts) {
    log.finish_counts(args, counts, args.targets ? nullptr : period.note());
  }

  const cuda::Device& device;
  const OctreeSettings settings;
  OctreeArrays arrays;
  TreeLog log;
  SortPeriod period;
  Octree tree;               // of the latest sort; without order: none
  int count = 0;             // of all bodies, in the latest evaluation
  bool keeps_cells = false;  // in the present evaluation
  Law law;                   // of the latest evaluation
  cuda::DeviceArray<unsigned char> is_target;
};

}  // namespace orrery
