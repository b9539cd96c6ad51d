#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
#include "compute/kernels/tree_facet.h"

namespace orrery {
namespace {

static_assert(octree_group_values.largest == OctreeGroup::most);
static_assert(key_levels < CellPicker::most_levels);

// Evaluations of cuda-tree: settings, memory and state on each device (OctreeWork), and their division among several
// devices (OctreeDivision).

/// Settings of cuda-tree. Chooses the values of those that are `auto`.
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
  /// Returns the maximum number of bodies in a group, if there are `count` bodies in all.
  int group_for(int count) const {
    constexpr int many = 1 << 18;
    return group_ > 0 ? group_ : count < many ? 32 : 64;
  }
  /// Returns the number of warps per group: doubled until all warps fill the GPU 1.25 times. Each warp of a group tests
  /// all cells, so further warps cost more than they gain. `bodies` of `count` bodies walk, and `targets` of these are
  /// wanted. The walk with high moments has only 12 resident warps, but on an H100 it gains from as many as the others.
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
  int leaf_, group_, split_;  // group_ and split_: 0 for auto
  FarField far_;
  int rebuild_;
  int multiprocessors_;
};

/// Capacities of an octree's arrays.
struct OctreeCapacity {
  int bodies = 0, cells = 0;          ///< capacity for all trees
  int own_bodies = 0, own_cells = 0;  ///< capacity for bodies with keys; for cells with links and boxes
  int trees = 1;                      ///< number of trees whose state is stored
  int arriving = 0;                   ///< bodies that use the memory of the cells until these are built
  std::size_t sort_bytes = 0;
};

/// Memory of an octree on a device: 16 bytes per body and 64 per cell of all trees, plus 24 per body and 56 per cell of
/// the device's own tree. High moments take more.
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

  /// Points `tree` to these arrays. `has_whole_arrays`: the links and boxes cover all trees, not only this one.
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

  /// Returns buffers for `count` keys and numbers, at the beginning of the memory.
  KeyBuffers key_buffers(int count) const {
    return {keys_.data(), keys_.data() + count, numbers_.data(), numbers_.data() + count};
  }
  std::uint64_t* keys() const { return keys_.data(); }
  OctreeState* states() const { return state_.data(); }
  /// Returns memory for OctreeCapacity::arriving bodies, usable until the cells are built.
  ResidentBodies arrived() const {
    return {.positions = tests_.data(), .velocities = moments_a_.data(), .ids = reinterpret_cast<int*>(nodes_.data())};
  }
  void* sort_space() const { return sort_space_.data(); }
  std::size_t sort_bytes() const { return sort_space_.size(); }

 private:
  static constexpr std::size_t ids_per_node = sizeof(OctreeNode) / sizeof(int);
  static constexpr std::size_t most_spare_bytes = std::size_t{256} << 20;  // spare memory per array: reallocation takes
                                                                           // time

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

/// Decides for how many evaluations a tree keeps its cells while bodies move. The age of cells is the number of
/// evaluations since their bodies were sorted. Aged cells are large, and walks open more of them. The GPU notes the
/// interactions at each age. The host reads them without waiting, so they lag by a few sorts.
class CellAging {
 public:
  explicit CellAging(const cuda::Device& device) : noted_{device, ages, /*pinned=*/true} { forget(); }

  /// Discards the notes. Call when the bodies were replaced.
  void forget() {
    for (std::uint64_t& each : noted_.first(ages)) std::atomic_ref{each}.store(0, std::memory_order_relaxed);
  }
  /// Returns where the GPU notes the interactions of an evaluation with cells of this age.
  std::uint64_t* note(int age) const { return &noted_.first(ages)[index(age)]; }
  /// Returns whether to sort again instead of evaluating with cells of this age. If so, lowers the interactions noted
  /// for this age a little, so that this age is tried again later.
  bool too_old(int age) {
    const double fresh = interactions(0), aged = interactions(age);
    if (fresh == 0 || aged <= allowed_growth * fresh) return false;
    std::atomic_ref{*note(age)}.store(static_cast<std::uint64_t>(aged * forgiven), std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr int ages = 32;  // the last entry covers all later ages
  /// Growth of interactions that makes a walk longer by about the time of a sort.
  static constexpr double allowed_growth = 1.25;
  /// Factor per sort: cells with 10 times the interactions are tried again after 265 sorts.
  static constexpr double forgiven = 1 - 1.0 / 128;

  static std::size_t index(int age) { return static_cast<std::size_t>(std::min(age, ages - 1)); }
  double interactions(int age) const {
    return static_cast<double>(std::atomic_ref{*note(age)}.load(std::memory_order_relaxed));
  }

  cuda::HostArray<std::uint64_t> noted_;  // interactions at each age; 0: unknown
};

/// Decides when a tree sorts its bodies, and when it keeps the cells of the previous evaluation.
class SortPeriod {
 public:
  /// `longest`: maximum number of evaluations from one sort to the next.
  SortPeriod(const cuda::Device& device, int longest) : aging_{device}, longest_{longest} {}

  /// Makes the next evaluation sort the bodies, and discards the notes. Call when the bodies were replaced.
  void forget() {
    since_sort_ = 0;
    aging_.forget();
  }
  /// Begins an evaluation of all bodies (`of_all`) or of targets. Returns whether it keeps the cells.
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

/// State of evaluations on one device by an octree of all bodies or of some.
struct OctreeWork {
  OctreeWork(const Settings& all_settings, const cuda::Device& on, std::span<const char* const> phases)
      : device{on}, settings{all_settings, on}, arrays{on}, log{on, phases}, period{on, settings.rebuild()} {}

  /// Makes the next evaluation sort the bodies. Call when they were replaced.
  void forget() { period.forget(); }
  /// Discards the tree. Call before the memory changes, because the cells must not be used again.
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
  /// Allocates memory for one flag per body.
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
  /// Enqueues the last phase. Call on the device that has the bodies. sums[i]: acceleration and mass of body
  /// of_bodies[i].
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
  bool keeps_cells = false;  // the current evaluation keeps the cells of an earlier one
  Law law;                   // law of the latest evaluation
  cuda::DeviceArray<unsigned char> is_target;
};

/// A number that a GPU notes in host memory in every evaluation. The host reads it without waiting, so it lags by a few
/// evaluations.
class NotedNumber {
 public:
  explicit NotedNumber(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// Resets the number to 0. A note in flight goes to the other place, so it can reappear only after a second call.
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

/// Capacity for the cells of a tree. It is kept small, because all of it is copied to devices that cannot access this
/// device's memory, or that show cells. It is a little more than the latest trees used; after a change of the number of
/// bodies, it is the maximum. A tree that needs more has some larger leaves, and later trees get more. The GPU notes
/// the number of cells. The host reads it without waiting, so it lags by a few evaluations.
class CellCapacity {
 public:
  explicit CellCapacity(const cuda::Device& device) : cells_{device} {}

  /// Discards the noted number of cells. Call when the bodies were replaced.
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

static_assert(most_devices <= Octree::most_trees);

constexpr int block = 512;

template <class T>
__global__ void pick(const T* __restrict__ entries, const int* __restrict__ order, int count, T* __restrict__ picked) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) picked[i] = entries[order[i]];
}

__global__ void spread(const Vec4* __restrict__ entries, const int* __restrict__ order, int count,
                       Vec4* __restrict__ to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) to[order[i]] = entries[i];
}

/// Sets picked[i] = entries[order[i]] for i in [0, count), count > 0.
template <class T>
void pick_entries(const T* entries, const int* order, int count, T* picked, cudaStream_t stream) {
  pick<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, picked);
  ORRERY_CUDA_CHECK_LAUNCH(pick);
}

/// Sets to[order[i]] = entries[i] for i in [0, count), count > 0.
void spread_entries(const Vec4* entries, const int* order, int count, Vec4* to, cudaStream_t stream) {
  spread<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, to);
  ORRERY_CUDA_CHECK_LAUNCH(spread);
}

/// Adds up the counts of all devices.
__global__ void join_counts(const __grid_constant__ OnAll<const TreeCounts> all, TreeCounts* joined) {
  TreeCounts sum = *all.of[0];
  for (int i = 1; i < all.devices; ++i) {
    const TreeCounts& counts = *all.of[i];
    sum.interactions += counts.interactions;
    sum.cells += counts.cells;
    sum.depth = max(sum.depth, counts.depth);
  }
  *joined = sum;
}

__global__ void name_owners(const int* order, int count, const __grid_constant__ FirstBodies first, int* owners) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) owners[order[i]] = first.domain_of(i);
}

std::size_t size_of(int count) {
  return static_cast<std::size_t>(count);
}

/// Returns the entries [first, end) of an array that all devices have.
template <class T>
DeviceBlock range_of(T* array, int first, int end, std::size_t vectors = 1) {
  return {array + size_of(first) * vectors, size_of(end - first) * vectors * sizeof(T)};
}

// Division of the bodies among devices.

/// Division of cuda-tree among devices. Each device gets the bodies of a domain, a stretch of Hilbert's curve, and
/// builds their octree. The devices then exchange bodies and cells, whose indices are the same on all of them
/// (DomainLayout). Each device walks all trees for its own bodies. Devices that access each other's memory, or that use
/// ChoiceFacet, exchange only the parts that walks need (EssentialTrees, PackedTrees). A cell that spans two domains
/// has a part in each tree. So forces differ from those of one tree as if some cells were divided elsewhere.
///
/// While bodies keep their cells, they also keep their domains.
///
/// Either the leader has all bodies and hands them out, or the devices hold them (MigrationFacet). If the devices hold
/// them, all devices are alike, and bodies migrate between domains.
///
/// Memory with the initial settings: each device has 48 bytes per body of all trees (bodies, and the cells' data for
/// walks). It has 68 more per body of its largest possible domain, which is 1.5 times the mean. A leader that hands out
/// bodies has 116 per body in all. If the devices hold the bodies, each has 72 in place of 68.
///
/// Above 2^28 bodies, DomainLayout reserves less. If devices hold the bodies, each has 34 bytes per body, and 60 per
/// body of the largest domain, which is 9/8 of the mean: 204 per body on four devices. Devices that cannot access each
/// other's memory have 4.5 more per body of the largest domain for bodies that leave, plus the memory of PackedTrees.
class OctreeDivision final : public PartitionFacet,
                             public ChoiceFacet,
                             public PeerFacet,
                             public MigrationFacet,
                             public ShipmentFacet {
 public:
  using Blocks = PartitionFacet::Blocks;

  /// `work` must outlive this object. After prepare_partition(), nothing else may use `work`.
  explicit OctreeDivision(OctreeWork& work)
      : work_{work},
        keys_{work.device},
        cells_{work.device},
        essential_{work.device},
        chosen_{work.device},
        migration_{work.device},
        border_steps_{work.device} {}

  /// Discards all notes of earlier evaluations. Call when the bodies were replaced.
  void forget() {
    cells_.forget();
    essential_.forget();
    border_steps_.forget();
  }

  void prepare_partition(int count, int index, int devices) override {
    migration_.forget();
    prepare(count, index, devices, /*holds=*/false);
  }
  Blocks prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    work_.begin(args);
    if (!work_.keeps_cells) {
      begin_layout(args, parts);
      divide_bodies(args);
    }
    work_.flag_targets(args);
    gather_others(args);
    return {};
  }

  Blocks input_of(const ForceArgs& args, const Part& part) override {
    const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
    return {range_of(sums_.data(), first, end),
            {&work_.tree.state->cube, work_.keeps_cells ? 0 : sizeof(TreeCube)},
            range_of(others_flags_.data(), first, args.targets ? end : first)};
  }
  Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) override {
    work_.keeps_cells = shared[1].bytes == 0;
    if (!work_.keeps_cells) {
      begin_layout(args, parts);
    }
    work_.take_flags(shared[2].bytes > 0 ? size_of(DomainLayout::most_bodies(args.count, devices_)) : 0);
    return {{received_.data(), shared[0].bytes},
            {cube_.data(), shared[1].bytes},
            {work_.is_target.data(), shared[2].bytes}};
  }

  void begin_part(const ForceArgs& args, const Part& /*part*/) override {
    if (is_first()) work_.log.next_phase();
    if (own_bodies() > 0) {
      if (!work_.keeps_cells) sort_own(args);
      order_own(args);
    }
    if (is_first()) work_.log.next_phase();
    if (own_bodies() == 0) return;
    work_.build(args);
    if (!gives_needed_ || !exchanges()) return;
    if (args.law != noted_law_) essential_.forget();  // pulls under the new law may be much weaker
    noted_law_ = args.law;
    essential_.outline(work_.tree, /*walks_all=*/!args.targets, args.stream);
  }

  bool works_alone() const override { return layout_.trees() == 1; }
  bool keeps_parts() const override { return work_.keeps_cells; }
  bool exchanges() const override { return layout_.trees() > 1; }
  Blocks offer(const ForceArgs& /*args*/, const Part& part) override { return walked(part.index, work_.tree.end_cell); }
  Blocks places_of_offer(const ForceArgs& /*args*/, const Part& other) override {
    return walked(other.index, layout_.end_cell(other.index));
  }
  void evaluate_part(const ForceArgs& args, const Part& /*part*/) override {
    if (is_first()) work_.log.next_phase();
    if (own_bodies() == 0) return;
    work_.walk(args);
    if (!work_.keeps_cells) cells_.note(&work_.tree.state->found.cells, args.stream);
    if (leads() || holds_) return;
    const Octree& tree = work_.tree;
    spread_entries(tree.accelerations + tree.first_body, tree.order + tree.first_body, tree.count, received_.data(),
                   args.stream);
  }

  Blocks results(const ForceArgs& /*args*/, const Part& /*part*/) override {
    return {range_of(received_.data(), 0, own_bodies()),
            {&work_.tree.state->found, own_bodies() > 0 ? sizeof(TreeCounts) : 0}};
  }
  Blocks places(const ForceArgs& /*args*/, const Part& part) override {
    const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
    return {range_of(sums_.data(), first, end), {counts_.data() + part.index, end > first ? sizeof(TreeCounts) : 0}};
  }
  void join(const ForceArgs& args, std::span<const Part> /*parts*/) override {
    OnAll<const TreeCounts> all{.of = {&work_.tree.state->found}, .devices = layout_.trees()};
    for (int i = 1; i < all.devices; ++i) all.of[i] = counts_.data() + i;
    join_counts<<<1, 1, 0, args.stream>>>(all, counts_.data());
    ORRERY_CUDA_CHECK_LAUNCH(join_counts);
    work_.finish(args, sums_.data(), order_, counts_.data());
  }

  const int* find_owners(int count, cudaStream_t stream) override {
    if (!order_ || work_.count != count) return nullptr;
    take_scratch(work_.device, owners_, size_of(count), "cuda-tree: the bodies' domains", "fewer bodies");
    constexpr int block = 256;
    name_owners<<<cuda::ceil_div(count, block), block, 0, stream>>>(order_, count, layout_.first_bodies(),
                                                                    owners_.data());
    ORRERY_CUDA_CHECK_LAUNCH(name_owners);
    return owners_.data();
  }

  Blocks cells(int index) override {
    return exchanges() ? shown(index, work_.tree.end_cell, work_.tree.state) : Blocks{};
  }
  Blocks places_of_cells(int index) override {
    return exchanges() ? shown(index, layout_.end_cell(index), work_.arrays.states() + index) : Blocks{};
  }

  void prepare_choice() override {
    gives_needed_ = true;
    chosen_.prepare(index_, devices_);
    cuda::clear(work_.device, essential_.outlined());  // the whole outline is sent, including unused boxes
  }
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

  void finish_residents(const ForceArgs& args) override {
    join_counts<<<1, 1, 0, args.stream>>>(all_counts_, counts_.data());
    ORRERY_CUDA_CHECK_LAUNCH(join_counts);
    work_.finish_counts(args, counts_.data());
  }

  // Bodies that the devices hold:
  void connect(std::span<PeerFacet* const> all) override {
    gives_needed_ = true;
    std::vector<const EssentialTrees*> essential;
    std::vector<Octree> arrays(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& other = static_cast<const OctreeDivision&>(*all[i]);
      essential.push_back(&other.essential_);
      other.work_.arrays.apply_to(arrays[i], /*has_whole_arrays=*/true);
    }
    essential_.connect(essential, arrays);
    if (!holds_) return;
    std::vector<const DomainMigration*> migrations;
    for (const PeerFacet* const each : all) migrations.push_back(&static_cast<const OctreeDivision&>(*each).migration_);
    migration_.connect(migrations);
    all_counts_.devices = static_cast<int>(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all_counts_.of[i] = &arrays[i].state->found;
  }

  bool can_hold(int count, int devices) const override { return DomainLayout::trees_for(count, devices) > 1; }
  void prepare_residence(int count, int index, std::span<const Part> parts) override {
    const auto devices = static_cast<int>(parts.size());
    sums_ = {}, received_ = {}, others_flags_ = {}, owners_ = {};
    prepare(count, index, devices, /*holds=*/true);
    migration_.prepare(DomainLayout::most_bodies(count, devices), index, devices, work_.arrays.arrived());
    gives_needed_ = true;  // begin_tree() reads this
    layout_ = DomainLayout{count, parts, work_.settings.leaf()};
    begin_tree(count);
  }

  ResidentBodies residents() override {
    const Octree& tree = work_.tree;
    return {.count = tree.count,
            .positions = tree.bodies + tree.first_body,
            .velocities = migration_.velocities(),
            .accelerations = tree.accelerations ? tree.accelerations + tree.first_body : nullptr,
            .ids = migration_.ids()};
  }

  /// Returns the number of rounds of the next move. The search for borders makes only as many steps as an earlier
  /// evaluation needed. If they are not enough, domains overlap in this evaluation, and a later one makes all steps.
  int begin_residents(const ForceArgs& args) override {
    work_.begin(args);
    if (work_.keeps_cells) return 0;
    const int needed = border_steps_.value();
    return migration_.rounds(needed > 0 ? needed : DomainMigration::most_steps);
  }
  void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) override {
    work_.keeps_cells = rounds == 0;
    if (rounds == 0) return;
    before_ = residents();
    earlier_ = layout_.first_body(index_);
    begin_layout(args, parts);
    migration_.begin(rounds);
  }

  void round(int number, const ForceArgs& args) override {
    migration_.round(number,
                     {.from = before_,
                      .earlier = earlier_,
                      .to = layout_,
                      .of_all = args.count,
                      .keys = work_.arrays.keys(),
                      .steps_needed = is_first() ? border_steps_.place() : nullptr},
                     args.stream);
  }

  void prepare_shipment() override {
    migration_.prepare_copies();
    take_scratch(work_.device, counts_, most_devices, "cuda-tree: the counters", "fewer ranks");
    all_counts_ = {.of = {&work_.arrays.states()->found}, .devices = devices_};
    for (int i = 1; i < devices_; ++i) all_counts_.of[i] = counts_.data() + i;
  }
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
  void prepare(int count, int index, int devices, bool holds) {
    const int leaf = work_.settings.leaf();
    if (const int most = DomainLayout::most_of_all(devices, leaf); count > most) {
      throw UsageError("cuda-tree takes at most " + std::to_string(most) + " bodies on " + std::to_string(devices) +
                       " devices");
    }
    work_.forget_tree();
    forget();
    order_ = nullptr;
    layout_ = {};
    index_ = index;
    devices_ = devices;
    holds_ = holds;
    gives_needed_ = false;
    essential_.prepare(index);
    const int most_bodies = DomainLayout::most_bodies(count, devices);
    const auto take = [this](auto& array, std::size_t size, const char* what) {
      take_scratch(work_.device, array, size, std::string{"cuda-tree: "} + what, "fewer bodies");
    };
    OctreeCapacity room{.bodies = count, .cells = DomainLayout::all_cells(count, devices, leaf)};
    if (leads()) {
      room.own_bodies = count;
      room.own_cells = room.cells;  // for TreeFacet::pick_cells()
      room.trees = devices;
      room.sort_bytes = std::max(sort_bytes(work_.device, most_bodies), DomainSort::sort_bytes(work_.device, count));
      keys_.prepare(devices - 1);
      take(sums_, size_of(count), "the accelerations");
    } else {
      room.own_bodies = most_bodies;
      room.own_cells = DomainLayout::most_cells(count, devices, leaf);
      room.sort_bytes = sort_bytes(work_.device, most_bodies);
      if (holds_) room.arriving = most_bodies;
      if (!holds_) take(received_, size_of(most_bodies), "the bodies of its domain");
      take(cube_, 1, "the cube");
    }
    if (is_first()) take(counts_, most_devices, "the counters");
    work_.arrays.take(room, work_.settings.far());
  }

  int own_bodies() const { return layout_.bodies(index_); }
  /// Sets the tree of this device's domain in the current layout. The sort sets its keys and order.
  void begin_tree(int count) {
    Octree tree{
        .count = own_bodies(), .first_body = layout_.first_body(index_), .first_cell = layout_.first_cell(index_)};
    const int most_cells = layout_.end_cell(index_) - tree.first_cell;
    tree.end_cell = tree.first_cell + (layout_.trees() > 1 ? cells_.room(own_bodies(), most_cells) : most_cells);
    work_.settings.apply_to(tree, count);
    work_.arrays.apply_to(tree, /*has_whole_arrays=*/leads());
    tree.trees = layout_.trees();
    for (int i = 0; i < tree.trees; ++i) tree.roots[i] = layout_.first_cell(i);
    if (gives_needed_ && exchanges()) essential_.note_in(tree);
    work_.tree = tree;
  }

  /// Sets the domains, which may differ from the previous ones.
  void begin_layout(const ForceArgs& args, std::span<const Part> parts) {
    const DomainLayout earlier = layout_;
    layout_ = DomainLayout{args.count, parts, work_.settings.leaf()};
    if (layout_ != earlier) essential_.forget();
    begin_tree(args.count);
  }
  /// On the leader: finds the domains of all bodies, and their order by domain.
  void divide_bodies(const ForceArgs& args) {
    Octree all = work_.tree;
    all.count = args.count;
    const KeyBuffers buffers = work_.arrays.key_buffers(args.count);
    find_keys(work_.device, all, args.bodies, buffers.keys, buffers.numbers, args.stream);
    own_keys_ = buffers;
    order_ = buffers.numbers;
    if (layout_.trees() == 1) return;
    std::vector<int> ranks;
    for (int domain = 1; domain < layout_.trees(); ++domain) ranks.push_back(layout_.first_body(domain));
    auto* const stretches = reinterpret_cast<unsigned char*>(sums_.data());
    order_ = keys_.order({buffers.keys, buffers.numbers, buffers.other_numbers, args.count}, ranks,
                         {stretches, work_.arrays.sort_space(), work_.arrays.sort_bytes()}, args.stream);
    int* const other = order_ == buffers.numbers ? buffers.other_numbers : buffers.numbers;
    own_keys_ = {buffers.other_keys, buffers.keys, order_, other};
  }

  /// On the leader: copies bodies and flags of the other domains to the blocks that input_of() returns.
  void gather_others(const ForceArgs& args) {
    const int first = own_bodies(), count = args.count - first;
    if (count == 0) return;
    gather_bodies(args.bodies, order_ + first, count, sums_.data() + first, args.stream);
    if (!args.targets) return;
    constexpr std::size_t word = 4;  // NCCL reads whole words, also at the end of the flags
    take_scratch(work_.device, others_flags_, size_of(args.count) + word - 1, "cuda-tree: the flags of the targets",
                 "fewer bodies");
    pick_entries(work_.is_target.data(), order_ + first, count, others_flags_.data() + first, args.stream);
  }

  void sort_own(const ForceArgs& args) {
    Octree& tree = work_.tree;
    if (!leads()) {
      own_keys_ = work_.arrays.key_buffers(tree.count);
      find_keys_in(holds_ ? migration_.cube() : cube_.data(), tree,
                   holds_ ? migration_.arrived().positions : received_.data(), own_keys_.keys, own_keys_.numbers,
                   args.stream);
    } else if (layout_.trees() > 1) {
      pick_entries(work_.arrays.keys(), order_, tree.count, own_keys_.keys, args.stream);
    }
    sort_keys(own_keys_, tree.count, work_.arrays.sort_space(), work_.arrays.sort_bytes(), args.stream);
    if (leads() && layout_.trees() == 1) order_ = own_keys_.numbers;
    if (leads() && own_keys_.numbers != order_) {
      ORRERY_CUDA_CHECK(cudaMemcpyAsync(order_, own_keys_.numbers, size_of(tree.count) * sizeof(int),
                                        cudaMemcpyDeviceToDevice, args.stream));
    }
    tree.keys = own_keys_.keys - tree.first_body;
    tree.order = (leads() ? order_ : own_keys_.numbers) - tree.first_body;
    auto* const accelerations = leads() ? sums_.data() : reinterpret_cast<Vec4*>(work_.arrays.keys());
    tree.accelerations = accelerations - tree.first_body;
  }

  /// Puts the bodies of this device's domain into the order of the tree.
  void order_own(const ForceArgs& args) {
    const Octree& tree = work_.tree;
    const int* const order = tree.order + tree.first_body;
    if (!holds_) {
      gather_bodies(leads() ? args.bodies : received_.data(), order, tree.count, tree.bodies + tree.first_body,
                    args.stream);
    } else if (!work_.keeps_cells) {
      migration_.take(order, residents(), args.stream);
    }
  }

  /// Returns the blocks of a tree that other devices need to walk it; shown() returns those that the leader also needs
  /// to show it. Both contain cells up to `end_cell`.
  Blocks walked(int domain, int end_cell) const {
    const Octree& tree = work_.tree;
    const int first_body = layout_.first_body(domain), end_body = first_body + layout_.bodies(domain);
    const int first = layout_.first_cell(domain);
    Blocks blocks{range_of(tree.bodies, first_body, end_body), range_of(tree.nodes, first, end_cell)};
    for (Vec4* array : {tree.tests, tree.moments_a, tree.moments_b}) blocks.push_back(range_of(array, first, end_cell));
    if (tree.high_moments) blocks.push_back(range_of(tree.high_moments, first, end_cell, high::stored_vectors));
    return blocks;
  }

  Blocks shown(int domain, int end_cell, OctreeState* state) const {
    const Octree& tree = work_.tree;
    const int first = layout_.first_cell(domain);
    Blocks blocks{range_of(tree.links, first, end_cell)};
    for (Vec4* array : {tree.low, tree.high}) blocks.push_back(range_of(array, first, end_cell));
    blocks.push_back({state, sizeof(OctreeState)});
    if (gives_needed_) {  // otherwise the leader has all bodies
      const int first_body = layout_.first_body(domain);
      blocks.push_back(range_of(tree.bodies, first_body, first_body + layout_.bodies(domain)));
    }
    return blocks;
  }

  OctreeWork& work_;
  DomainSort keys_;
  int index_ = 0, devices_ = 1;
  bool holds_ = false;         // whether the devices hold the bodies
  bool gives_needed_ = false;  // whether devices exchange only what walks need
  DomainLayout layout_;
  CellCapacity cells_;
  KeyBuffers own_keys_{};  // keys of the domain's bodies, before and after the sort
  // On the leader:
  int* order_ = nullptr;          // indices of all bodies, ordered by domain
  cuda::DeviceArray<Vec4> sums_;  // ordered by domain: the others' bodies, later the accelerations of all
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

/// Records a walk and copies it to the host. The host never waits: both are enqueued between two evaluations.
class WalkReader {
 public:
  static constexpr int most = 1 << 14;  ///< maximum number of recorded cells, and of recorded leaves; the counts
                                        ///< include all

  explicit WalkReader(const cuda::Device& device) : device_{device} {}

  /// Allocates the memory. Without this call, read() allocates.
  void prepare() {
    if (cubes_.size() > 0) return;
    constexpr auto lists = static_cast<std::size_t>(2 * most);
    d_found_ = cuda::DeviceArray<WalkFound>(device_, 1);
    d_numbers_ = cuda::DeviceArray<int>(device_, lists);
    d_cubes_ = cuda::DeviceArray<TreeCell>(device_, lists);
    found_ = cuda::HostArray<WalkFound>(device_, 1, /*pinned=*/true);
    cubes_ = cuda::HostArray<TreeCell>(device_, lists, /*pinned=*/true);
  }

  /// Enqueues the record of the walk of a body's group. `Cells` has cell(i) on the device.
  template <class Cells>
  void read(const Octree& tree, const Cells& cells, const Law& law, int body, cudaStream_t stream);
  void forget() { known_ = false; }
  /// Returns the latest walk; none if nothing was recorded or the body is not in the tree. Call only when the stream
  /// has passed the record.
  std::optional<BodyWalk> walk() const {
    if (!known_) return std::nullopt;
    const WalkFound& found = found_.first(1)[0];
    if (found.place < 0) return std::nullopt;
    const std::span<const TreeCell> cubes = cubes_.first(2 * most);
    const std::span<const TreeCell> cells = cubes.first(static_cast<std::size_t>(std::min(found.cells, most)));
    const std::span<const TreeCell> leaves =
        cubes.subspan(most).first(static_cast<std::size_t>(std::min(found.leaves, most)));
    return BodyWalk{{cells.begin(), cells.end()}, {leaves.begin(), leaves.end()}, found.bodies};
  }

 private:
  const cuda::Device& device_;
  bool known_ = false;
  cuda::DeviceArray<WalkFound> d_found_;
  cuda::DeviceArray<int> d_numbers_;     // cells, then leaves
  cuda::DeviceArray<TreeCell> d_cubes_;  // cubes of these cells and leaves
  cuda::HostArray<WalkFound> found_;
  cuda::HostArray<TreeCell> cubes_;
};

template <class Cells>
__global__ void find_cubes(const __grid_constant__ Cells cells, WalkRecord record, TreeCell* cubes) {
  for (auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < record.most;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (i < record.found->cells) cubes[i] = cells.cell(record.cells[i]);
    if (i < record.found->leaves) cubes[record.most + i] = cells.cell(record.leaves[i]);
  }
}

template <class Cells>
void WalkReader::read(const Octree& tree, const Cells& cells, const Law& law, int body, cudaStream_t stream) {
  prepare();
  known_ = true;
  const WalkRecord record{d_found_.data(), d_numbers_.data(), d_numbers_.data() + most, most};
  record_walk(device_, tree, law, body, record, stream);
  constexpr int block = 256;
  ORRERY_CUDA_CHECK(cudaMemsetAsync(d_cubes_.data(), 0, d_cubes_.size() * sizeof(TreeCell), stream));
  find_cubes<<<most / block, block, 0, stream>>>(cells, record, d_cubes_.data());
  ORRERY_CUDA_CHECK_LAUNCH(find_cubes);
  cuda::download(d_found_.data(), found_.first(1), stream);
  cuda::download(d_cubes_.data(), cubes_.first(2 * most), stream);
}

constexpr const char* theta_values[] = {"0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "0.9", "1.0", "1.2"};
constexpr auto groups_or_auto = octree_group_values.names_after("auto");
constexpr auto splits_or_auto = octree_split_values.names_after("auto");
constexpr Values<1, 2, 4, 8, 16> rebuild_values;

constexpr Tunable tunables[] = {
    {.name = "theta",
     .notes = "A cell stands for its bodies only from a distance of its size over this: less is more exact.",
     .values = theta_values,
     .initial = "1.0",
     .numbers = Range<double>{0.1, 1.2}},
    tolerance_tunable,
    leaf_tunable("16"),
    {.name = "group",
     .notes =
         "Neighbouring bodies that walk the tree together; auto: fewer where there are too few groups for the GPU.",
     .values = groups_or_auto,
     .initial = "auto"},
    {.name = "split",
     .notes = "Warps that share the walk of a group; auto: more than one where there are too few groups for the GPU.",
     .values = splits_or_auto,
     .initial = "auto"},
    order_tunable,
    {.name = "rebuild",
     .notes = "At most so many evaluations from one sort of the bodies to the next; between them the cells keep their "
              "bodies. Where cells that are kept cost more than a sort, the bodies are sorted sooner.",
     .values = rebuild_values.names(),
     .initial = "1",
     .numbers = Range<double>{1, 1000},
     .whole = true,
     .is_period = true},
};

// High moments with larger leaves were faster for 65,536 to 1,048,576 bodies on an H100. Above a tolerance of 1e-5,
// order=local is as fast and has a smaller p99 error.
constexpr const char* candidates[] = {"", "rebuild=4", "leaf=32 order=high tolerance=1e-5",
                                      "leaf=32 order=high rebuild=4 tolerance=1e-5"};

constexpr const char* phases[] = {"keys", "sort", "build", "walk", "update"};

/// The cells of all trees, for CellPicker. The trees' states are consecutive.
struct OctreeCells {
  Octree tree;

  __device__ int count() const { return end_of(tree.trees - 1); }
  __device__ int level(int i) const {
    int of = 0;
    while (of + 1 < tree.trees && tree.roots[of + 1] <= i) ++of;
    if (i >= end_of(of)) return -1;
    const OctreeLinks cell = tree.links[i];
    return cell.end > cell.begin ? cell.level : -1;
  }

  /// Returns a cube that contains all bodies of the cell. Some may be outside the cube of the keys, or may have left
  /// the cell after the latest sort.
  __device__ TreeCell cell(int i) const {
    const OctreeLinks links = tree.links[i];
    const TreeCube& cube = tree.state->cube;
    const TreeUnits units{cube};
    const Vec4 body = tree.bodies[links.begin];
    const Vec3 low = units.point({tree.low[i].x, tree.low[i].y, tree.low[i].z}),
               high = units.point({tree.high[i].x, tree.high[i].y, tree.high[i].z});
    TreeCell cell = cell_of_key(cube, morton_key(cube, body.x, body.y, body.z), links.level);
    const auto widen = [&](float center, float from, float to) {
      cell.half_size = fmaxf(cell.half_size, fmaxf(center - from, to - center));
    };
    widen(cell.center.x, low.x, high.x);
    widen(cell.center.y, low.y, high.y);
    widen(cell.center.z, low.z, high.z);
    return cell;
  }

 private:
  __device__ int end_of(int of) const { return tree.state[of].row_begin[tree.state[of].rows]; }
};

class Tree final : public ForceKernel, public TreeFacet {
 public:
  Tree(const Settings& settings, const cuda::Device& device) : work_{settings, device, phases} {}

  void prepare(int count) override {
    if (count > Octree::most_bodies) {
      throw UsageError("cuda-tree takes at most " + std::to_string(Octree::most_bodies) + " bodies");
    }
    if (sort_count_ == count) return;
    // Reset first: if an allocation fails, the order for another number of bodies must not be used again.
    sort_count_ = 0;
    work_.forget_tree();
    const int cells = Octree::capacity_for(count);
    work_.arrays.take({.bodies = count,
                       .cells = cells,
                       .own_bodies = count,
                       .own_cells = cells,
                       .sort_bytes = sort_bytes(work_.device, count)},
                      work_.settings.far());
    sort_count_ = count;
  }

  void bodies_replaced() override {
    work_.forget();
    domains_.forget();
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    work_.begin(args);
    Octree& tree = work_.tree;
    KeyBuffers buffers = work_.arrays.key_buffers(args.count);
    if (!work_.keeps_cells) {
      tree = tree_for(args.count);
      find_keys(work_.device, tree, args.bodies, buffers.keys, buffers.numbers, args.stream);
    }
    work_.log.next_phase();
    if (!work_.keeps_cells) {
      sort_keys(buffers, args.count, work_.arrays.sort_space(), work_.arrays.sort_bytes(), args.stream);
      tree.keys = buffers.keys;
      tree.order = buffers.numbers;
    }
    gather_bodies(args.bodies, tree.order, args.count, tree.bodies, args.stream);
    work_.flag_targets(args);
    work_.log.next_phase();
    work_.build(args);
    work_.log.next_phase();
    work_.walk(args);
    work_.finish(args, tree.accelerations, tree.order, &tree.state->found);
  }

  PartitionFacet* partition() override { return &domains_; }

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    const FarField far = work_.settings.far();
    const int split = work_.settings.split_for(count, count, count);
    return {.function = walk_octree_function(law.id, far),
            .block = walk_octree_block,
            .blocks = walk_octree_blocks(work_.device, law.id, far, count, split)};
  }

  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return "groups of " + std::to_string(work_.settings.group_for(count)) + ", split " +
           std::to_string(work_.settings.split_for(count, count, count));
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return work_.log.report(); }

  void prepare_cells(const CellRequest& request, int count) override {
    picker_.prepare(std::min(request.most, Octree::capacity_for(count)));
    if (request.walk_of != CellRequest::nobody) walks_.prepare();
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    walks_.forget();
    const Octree& tree = work_.tree;
    if (!tree.order) return picker_.forget();
    picker_.pick(OctreeCells{tree}, std::min(request.most, Octree::capacity_for(work_.count)), request.level, stream);
    if (request.walk_of >= 0) walks_.read(tree, OctreeCells{tree}, work_.law, request.walk_of, stream);
  }

  std::optional<PickedCells> cells() const override {
    std::optional<PickedCells> picked = picker_.cells();
    if (picked) picked->walk = walks_.walk();
    return picked;
  }

 private:
  /// Returns the tree of all bodies without the keys and the order, which the sort sets.
  Octree tree_for(int count) const {
    Octree tree{.count = count, .end_cell = Octree::capacity_for(count)};
    work_.settings.apply_to(tree, count);
    work_.arrays.apply_to(tree, /*has_whole_arrays=*/true);
    // The keys are not needed once the tree is built.
    tree.accelerations = reinterpret_cast<Vec4*>(work_.arrays.keys());
    return tree;
  }

  OctreeWork work_;
  int sort_count_ = 0;  // bodies that memory is allocated for; 0: none
  OctreeDivision domains_{work_};
  CellPicker picker_{work_.device};
  WalkReader walks_{work_.device};
};

}  // namespace

ORRERY_KERNEL(
    cuda_tree, .id = "cuda-tree", .title = "CUDA tree",
    .notes =
        "Barnes-Hut: bodies sorted along Hilbert's curve, an octree over the sorted keys, quadrupoles, and groups of "
        "neighbours that walk together. Of repulsion, cells far away have the monopole alone.",
    .source = "M. Zahran, GPUs, lecture 13 in today's form: Bedorf, Gaburov and Portegies Zwart 2012",
    .lesson =
        "Sorting first makes everything else regular: cells are ranges of bodies, neighbours share one list of cells, "
        "and the inner loops are as tight as a direct sum's.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-3, .max = 0.1}, .repeatable = false,
    .takes_targets = true, .divides = true, .is_tree = true, .full_fp32 = false, .candidates = candidates,
    .create = create_kernel<Tree>);

}  // namespace orrery
