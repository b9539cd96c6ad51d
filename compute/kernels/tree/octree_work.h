#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/high_expansion.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree/tree_log.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {

/// Settings of cuda-tree, with values for those that are `auto`.
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
  /// Returns the maximum number of evaluations from one sort to the next.
  int rebuild() const { return rebuild_; }
  /// Returns the number of bodies in a group, for `count` bodies in all.
  int group_for(int count) const {
    constexpr int many = 1 << 18;
    return group_ > 0 ? group_ : count < many ? 32 : 64;
  }
  /// Returns the number of warps per group: doubled until they fill the GPU and a quarter more. Each warp of a group
  /// tests all cells, which costs more than it gains where there are enough warps. `bodies` of `count` bodies walk,
  /// `targets` of them are wanted. The walk with high moments has only 12 resident warps, but on an H100 it gains from
  /// as many as the others.
  int split_for(int count, int bodies, int targets) const {
    if (split_ > 0) return split_;
    constexpr int resident_warps = 20;  // per multiprocessor
    const int wanted = resident_warps * multiprocessors_ * 5 / 4;
    const int groups = std::min(cuda::ceil_div(bodies, group_for(count)), targets);
    int split = 1;
    while (split < octree_split_values.largest && groups * split < wanted) split *= 2;
    return split;
  }
  /// Sets the tree's parameters that come from the settings. `count`: number of all bodies.
  void apply_to(Octree& tree, int count) const {
    tree.leaf = leaf_;
    tree.group = group_for(count);
    tree.theta = theta_;
    tree.tolerance = tolerance_;
    tree.far = far_;
  }

 private:
  float theta_, tolerance_;
  int leaf_, group_, split_;  // 0: auto, for group_ and split_
  FarField far_;
  int rebuild_;
  int multiprocessors_;
};

/// Capacities of an octree's arrays.
struct OctreeRoom {
  int bodies = 0, cells = 0;          ///< capacity for all trees
  int own_bodies = 0, own_cells = 0;  ///< bodies with keys; cells with links and boxes
  int trees = 1;                      ///< trees with a state
  int arriving = 0;                   ///< bodies that occupy the memory of the cells before these are built
  std::size_t sort_bytes = 0;
};

/// Memory of an octree on a device: 16 bytes per body and 64 per cell of all trees, plus 24 per body and 56 per cell of
/// its own tree. High moments take more.
class OctreeArrays {
 public:
  explicit OctreeArrays(const cuda::Device& device) : device_{device} {}

  /// Allocates all arrays. Throws UsageError if the GPU's memory is short.
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

  /// Points a tree to the memory. `has_whole_arrays`: the links and boxes cover all trees, not only this one.
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

  /// Returns the buffers of `count` keys, which begin the memory.
  KeyBuffers key_buffers(int count) const {
    return {keys_.data(), keys_.data() + count, numbers_.data(), numbers_.data() + count};
  }
  std::uint64_t* keys() const { return keys_.data(); }
  OctreeState* states() const { return state_.data(); }
  /// Returns room for OctreeRoom::arriving bodies, usable until the cells are built.
  ResidentBodies arrived() const {
    return {.positions = tests_.data(), .velocities = moments_a_.data(), .ids = reinterpret_cast<int*>(nodes_.data())};
  }
  void* sort_space() const { return sort_space_.data(); }
  std::size_t sort_bytes() const { return sort_space_.size(); }

 private:
  static constexpr std::size_t ids_per_node = sizeof(OctreeNode) / sizeof(int);
  static constexpr std::size_t most_spare_bytes = std::size_t{256} << 20;  // kept per array: reallocation takes time

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

/// Finds for how many evaluations a tree may keep its cells while bodies move. Aged cells are large, and walks open
/// more of them. The age of cells is the number of evaluations since their bodies were sorted. The GPU notes the
/// interactions at each age; the host reads them without waiting, so they are some sorts old.
class CellAging {
 public:
  explicit CellAging(const cuda::Device& device) : noted_{device, ages, /*pinned=*/true} { forget(); }

  /// Discards the notes. Call when the bodies were replaced.
  void forget() {
    for (std::uint64_t& each : noted_.first(ages)) std::atomic_ref{each}.store(0, std::memory_order_relaxed);
  }
  /// Returns where the GPU notes the interactions of an evaluation with cells of this age.
  std::uint64_t* note(int age) const { return &noted_.first(ages)[index(age)]; }
  /// Returns whether to sort again rather than evaluate with cells of this age. If so, lowers their noted interactions
  /// a little, so that this age is tried again some time.
  bool too_old(int age) {
    const double fresh = interactions(0), aged = interactions(age);
    if (fresh == 0 || aged <= allowed_growth * fresh) return false;
    std::atomic_ref{*note(age)}.store(static_cast<std::uint64_t>(aged * forgiven), std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr int ages = 32;  // the last entry covers all later ages
  /// Ratio of interactions at which a walk takes longer by about the time of a sort.
  static constexpr double allowed_growth = 1.25;
  /// Factor per sort: cells with 10 times the interactions are tried again after 265 sorts.
  static constexpr double forgiven = 1 - 1.0 / 128;

  static std::size_t index(int age) { return static_cast<std::size_t>(std::min(age, ages - 1)); }
  double interactions(int age) const {
    return static_cast<double>(std::atomic_ref{*note(age)}.load(std::memory_order_relaxed));
  }

  cuda::HostArray<std::uint64_t> noted_;  // by age; 0: unknown
};

/// Decides when a tree sorts its bodies, and when it keeps the cells of the previous evaluation.
class SortPeriod {
 public:
  /// `longest`: maximum number of evaluations from one sort to the next.
  SortPeriod(const cuda::Device& device, int longest) : aging_{device}, longest_{longest} {}

  /// Call when the bodies were replaced.
  void forget() {
    since_sort_ = 0;
    aging_.forget();
  }
  /// Begins an evaluation of all bodies or of targets. Returns whether it keeps the cells.
  bool keeps_cells(bool of_all) {
    // Walks of few targets tell nothing about the walks of all bodies.
    const bool keeps = since_sort_ > 0 && (!of_all || !aging_.too_old(since_sort_));
    age_ = keeps ? since_sort_ : 0;
    since_sort_ = (age_ + 1) % longest_;
    return keeps;
  }
  /// Returns where the GPU notes the interactions of this evaluation, if it is of all bodies.
  std::uint64_t* note() const { return aging_.note(age_); }

 private:
  CellAging aging_;
  int longest_;
  int since_sort_ = 0;
  int age_ = 0;  // age of the cells in the current evaluation
};

/// State of evaluations by an octree on a device, whether the tree has all bodies or some of them.
struct OctreeWork {
  OctreeWork(const Settings& all_settings, const cuda::Device& on, std::span<const char* const> phases)
      : device{on}, settings{all_settings, on}, arrays{on}, log{on, phases}, period{on, settings.rebuild()} {}

  /// Call when the bodies were replaced.
  void forget() { period.forget(); }
  /// Discards the tree. Call before the memory changes: the cells must not be used again.
  void forget_tree() {
    tree = {};
    forget();
  }
  /// Begins an evaluation. Call on the device that has the bodies.
  void begin(const ForceArgs& args) {
    if (!tree.order) forget();
    count = args.count;
    keeps_cells = period.keeps_cells(!args.targets);
    law = args.law;
    log.begin(args);
  }

  /// Returns one byte per body for walk_octree(); null if every body is wanted.
  const unsigned char* flags(const ForceArgs& args) const { return args.targets ? is_target.data() : nullptr; }
  /// Makes room for one flag per body.
  void take_flags(std::size_t bodies) {
    take_scratch(device, is_target, bodies, "cuda-tree: the flags of the targets", "fewer bodies");
  }
  /// Sets the flags of all bodies if there are targets. Call on the device that has the bodies.
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
  /// Enqueues the last phase. Call on the device that has the bodies. `sums`: in the order `of_bodies`, which holds the
  /// bodies' indices.
  void finish(const ForceArgs& args, const Vec4* sums, const int* of_bodies, const TreeCounts* counts) {
    constexpr int block = 256;
    static_assert(block <= max_tree_block);
    log.finish(args, sums, of_bodies, counts, block, flags(args), args.targets ? nullptr : period.note());
  }
  /// Enqueues the last phase if the bodies' devices finish them.
  void finish_counts(const ForceArgs& args, const TreeCounts* counts) {
    log.finish_counts(args, counts, args.targets ? nullptr : period.note());
  }

  const cuda::Device& device;
  const OctreeSettings settings;
  OctreeArrays arrays;
  TreeLog log;
  SortPeriod period;
  Octree tree;               // tree of the latest sort; null order: none
  int count = 0;             // number of all bodies in the latest evaluation
  bool keeps_cells = false;  // in the current evaluation
  Law law;                   // law of the latest evaluation
  cuda::DeviceArray<unsigned char> is_target;
};

}  // namespace orrery
