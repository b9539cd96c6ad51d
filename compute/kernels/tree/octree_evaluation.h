#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/domains.h"
#include "compute/kernels/tree/essential_trees.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/tree_report.h"
#include "compute/kernels/tree/tree_tunables.h"

// Evaluations of cuda-tree: settings, memory and state on each device (OctreeWork), and their division among several
// devices (OctreeDivision).
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
struct OctreeCapacity {
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
  void take(const OctreeCapacity& room, FarField far) {
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
  /// Returns room for OctreeCapacity::arriving bodies, usable until the cells are built.
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

/// Number that a GPU notes in host memory in every evaluation. The host reads it without waiting, so it is some
/// evaluations old.
class NotedNumber {
 public:
  explicit NotedNumber(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// Resets the number to 0. A note in flight goes to the other place, and can reappear only after a second call.
  void forget() {
    place_ ^= 1;
    std::atomic_ref{*place()}.store(0, std::memory_order_relaxed);
  }
  int value() const { return std::atomic_ref{*place()}.load(std::memory_order_relaxed); }
  /// Returns where the GPU writes the number.
  int* place() const { return &noted_.first(2)[place_]; }

 private:
  cuda::HostArray<int> noted_;
  std::size_t place_ = 0;  // index of the current place
};

/// Capacity for the cells of a tree, in use if all of it is copied to devices that do not see each other's memory, or
/// where cells are shown. It exceeds the latest trees' cells a little; after a change of the number of bodies, it is
/// the maximum. A tree that needs more has some larger leaves, and later ones get more. The GPU notes the cells; the
/// host reads them without waiting, so they are some evaluations old.
class CellCapacity {
 public:
  explicit CellCapacity(const cuda::Device& device) : cells_{device} {}

  /// Call when the bodies were replaced.
  void forget() { cells_.forget(); }
  /// Returns the capacity for the next tree, of `bodies` bodies and at most `most` cells.
  int room(int bodies, int most) {
    if (bodies != bodies_) forget();
    bodies_ = bodies;
    given_ = DomainLayout::room_after(cells_.value(), given_, most);
    return given_;
  }
  /// Enqueues a note of the latest tree's number of cells.
  void note(const int* d_cells, cudaStream_t stream) const {
    cuda::download(d_cells, std::span{cells_.place(), 1}, stream);
  }

 private:
  NotedNumber cells_;
  int bodies_ = 0, given_ = 0;  // bodies and capacity of the latest tree
};

/// Division of cuda-tree among devices. Each device gets the bodies of a domain, a stretch of Hilbert's curve, and
/// builds their octree. The devices then exchange bodies and cells, whose indices are the same on all of them
/// (DomainLayout), and each walks all trees for its own bodies. Devices that see each other's memory, or choose,
/// exchange only what the walks need (EssentialTrees, PackedTrees). A cell that spans two domains has a part in each
/// tree, so forces differ from those of one tree as if some cells were divided elsewhere.
///
/// While bodies keep their cells, they also keep their domains.
///
/// Either the leader has the bodies and hands them out, or the devices hold them (MigrationFacet): then all devices are
/// alike, and bodies migrate between domains.
///
/// Memory with the initial settings: each device has 48 bytes per body of all trees (the bodies, and the cells' data
/// for walks), and 68 per body of its largest possible domain, which has 1.5 times the mean. A leader that hands them
/// out has 116 per body in all. If the devices hold the bodies, all have 72 in place of 68.
///
/// Above 2^28 bodies, DomainLayout reserves less. If devices hold them, each has 34 bytes per body, and 60 per body of
/// the largest domain, which has 9/8 of the mean: on four devices, 204 in all. Devices that do not see each other's
/// memory have 4.5 more per body of the largest domain for bodies that leave, plus the memory of PackedTrees.
class OctreeDivision final : public PartitionFacet,
                             public ChoiceFacet,
                             public PeerFacet,
                             public MigrationFacet,
                             public ShipmentFacet {
 public:
  using Blocks = PartitionFacet::Blocks;

  /// `work` must outlive this. Once prepare_partition() was called, nothing else may use it.
  explicit OctreeDivision(OctreeWork& work)
      : work_{work},
        keys_{work.device},
        cells_{work.device},
        essential_{work.device},
        chosen_{work.device},
        migration_{work.device},
        border_steps_{work.device} {}

  /// Call when the bodies were replaced.
  void forget() {
    cells_.forget();
    essential_.forget();
    border_steps_.forget();
  }

  void prepare_partition(int count, int index, int devices) override;
  Blocks prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override;
  Blocks input_of(const ForceArgs& args, const Part& part) override;
  Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) override;
  void begin_part(const ForceArgs& args, const Part& part) override;
  bool works_alone() const override { return layout_.trees() == 1; }
  bool keeps_parts() const override { return work_.keeps_cells; }
  bool exchanges() const override { return layout_.trees() > 1; }
  Blocks offer(const ForceArgs& args, const Part& part) override;
  Blocks places_of_offer(const ForceArgs& args, const Part& other) override;
  void evaluate_part(const ForceArgs& args, const Part& part) override;
  Blocks results(const ForceArgs& args, const Part& part) override;
  Blocks places(const ForceArgs& args, const Part& part) override;
  void join(const ForceArgs& args, std::span<const Part> parts) override;
  const int* find_owners(int count, cudaStream_t stream) override;
  Blocks cells(int index) override;
  Blocks places_of_cells(int index) override;

  void prepare_choice() override;
  DeviceBlock outline() override { return {essential_.outlined().data(), sizeof(DomainOutline)}; }
  DeviceBlock place_of_outline(int index) override { return chosen_.place_of_outline(index); }
  std::vector<Blocks> choose(const ForceArgs& args, const std::function<void()>& wait) override {
    return chosen_.choose(work_.tree, wait, args.stream);
  }
  Blocks places_of_chosen(int index, std::span<const std::size_t> sizes) override {
    return chosen_.places(index, sizes);
  }
  void take_chosen(const ForceArgs& args) override { chosen_.take(work_.tree, args.stream); }

  void send(CUstream_st* stream) override { essential_.send(work_.tree, stream); }

  void finish_residents(const ForceArgs& args) override;

  // Bodies that the devices hold:
  void connect(std::span<PeerFacet* const> all) override;
  bool can_hold(int count, int devices) const override { return DomainLayout::trees_for(count, devices) > 1; }
  void prepare_residence(int count, int index, std::span<const Part> parts) override;
  ResidentBodies residents() override;
  int begin_residents(const ForceArgs& args) override;
  void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) override;
  void round(int number, const ForceArgs& args) override;
  void prepare_shipment() override;
  int bodies_of(int index) const override { return layout_.bodies(index); }
  DeviceBlock found_in(int round) override { return migration_.found_in(round); }
  DeviceBlock place_of_found(int round, int index) override { return migration_.found_in(round, index); }
  int shipments(const std::function<void()>& wait, CUstream_st* stream) override {
    return migration_.shipment().begin(wait, stream);
  }
  std::vector<Blocks> leaving(int shipment, CUstream_st* stream) override {
    return migration_.shipment().leaving(shipment, stream);
  }
  std::vector<Blocks> arriving(int shipment) override { return migration_.shipment().arriving(shipment); }
  DeviceBlock counted() override { return {&work_.tree.state->found, sizeof(TreeCounts)}; }
  DeviceBlock place_of_counted(int index) override { return {counts_.data() + index, sizeof(TreeCounts)}; }

 private:
  bool is_first() const { return index_ == 0; }
  /// Returns whether this device has all bodies and hands them out.
  bool leads() const { return is_first() && !holds_; }
  /// Allocates the memory that all evaluations need.
  void prepare(int count, int index, int devices, bool holds);
  int own_bodies() const { return layout_.bodies(index_); }
  /// Begins the tree of this device's domain in the current layout, without keys and order.
  void begin_tree(int count);
  /// Sets the domains, which may differ from the previous ones.
  void begin_layout(const ForceArgs& args, std::span<const Part> parts);
  /// Leader: finds the domains of all bodies, and their order by domain.
  void divide_bodies(const ForceArgs& args);
  /// Leader: copies bodies and flags of the other domains to the blocks that input_of() returns.
  void gather_others(const ForceArgs& args);
  void sort_own(const ForceArgs& args);
  /// Puts the domain's received bodies into the order of the tree.
  void order_own(const ForceArgs& args);
  /// Return what other devices need of a tree to walk it, and what the leader needs besides to show it, up to
  /// `end_cell`.
  Blocks walked(int domain, int end_cell) const;
  Blocks shown(int domain, int end_cell, OctreeState* state) const;

  OctreeWork& work_;
  DomainSort keys_;
  int index_ = 0, devices_ = 1;
  bool holds_ = false;         // whether the devices hold the bodies
  bool gives_needed_ = false;  // whether devices exchange only what walks need
  DomainLayout layout_;
  CellCapacity cells_;
  KeyBuffers own_keys_{};  // keys of the domain: before the sort, then as sorted
  // On the leader:
  int* order_ = nullptr;          // all bodies, by domain
  cuda::DeviceArray<Vec4> sums_;  // by domain: the others' bodies, later the accelerations of all
  cuda::DeviceArray<unsigned char> others_flags_;
  cuda::DeviceArray<int> owners_;         // domain of each body, in original order
  cuda::DeviceArray<TreeCounts> counts_;  // sum over all devices at index 0, then one entry per other device; on all
                                          // devices if they exchange copies
  // On the other devices:
  cuda::DeviceArray<Vec4> received_;  // bodies in the leader's order, later their accelerations
  cuda::DeviceArray<TreeCube> cube_;
  // If devices exchange only what walks need:
  EssentialTrees essential_;
  PackedTrees chosen_;
  Law noted_law_;  // law of the walks whose notes essential_ has
  // If devices hold the bodies:
  DomainMigration migration_;
  NotedNumber border_steps_;  // first device: steps that the search for borders needs
  ResidentBodies before_;     // bodies before the current move
  int earlier_ = 0;           // bodies of the devices before this one, before the current move
  OnAll<const TreeCounts> all_counts_;
};

}  // namespace orrery
