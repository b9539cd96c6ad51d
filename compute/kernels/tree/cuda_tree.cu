#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/cell_aging.h"
#include "compute/kernels/tree/cell_picker.h"
#include "compute/kernels/tree/high_expansion.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree/tree_log.h"
#include "compute/kernels/tree/tree_tunables.h"
#include "compute/kernels/tree/walk_reader.h"

namespace orrery {
namespace {

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

// High moments with larger leaves: 65,536 to 1,048,576 bodies were faster with them on an H100. Above this tolerance,
// order=local is as fast and has a smaller p99.
constexpr const char* candidates[] = {"", "rebuild=4", "leaf=32 order=high tolerance=1e-5",
                                      "leaf=32 order=high rebuild=4 tolerance=1e-5"};

constexpr const char* phases[] = {"keys", "sort", "build", "walk", "update"};

constexpr int update_block = 256;
static_assert(update_block <= max_tree_block);
static_assert(octree_group_values.largest == OctreeGroup::most);
constexpr std::size_t least_group = octree_group_values.all.front();

static_assert(key_levels < CellPicker::most_levels);

__global__ void mark(Targets targets, unsigned char* is_target) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place < targets.count) is_target[targets.body(place)] = 1;
}

/// The cells of the tree, for CellPicker.
struct OctreeCells {
  Octree tree;

  __device__ int count() const { return tree.state->row_begin[tree.state->rows]; }
  __device__ int level(int i) const {
    const OctreeLinks cell = tree.links[i];
    return cell.end > cell.begin ? cell.level : -1;
  }
  /// A cube that contains all bodies of the cell, including those beyond the border of the keys and those that left the
  /// cell after the latest sort.
  __device__ TreeCell cell(int i) const {
    const OctreeLinks links = tree.links[i];
    const Vec4 body = tree.bodies[links.begin], low = tree.low[i], high = tree.high[i];
    const TreeCube& cube = tree.state->cube;
    TreeCell cell = cell_of_key(cube, morton_key(cube, body.x, body.y, body.z), links.level);
    const auto widen = [&](float center, float from, float to) {
      cell.half_size = fmaxf(cell.half_size, fmaxf(center - from, to - center));
    };
    widen(cell.center.x, low.x, high.x);
    widen(cell.center.y, low.y, high.y);
    widen(cell.center.z, low.z, high.z);
    return cell;
  }
};

__global__ void add_interactions(TreeCounts* found, const unsigned long long* __restrict__ others, int count) {
  for (int i = 0; i < count; ++i) found->interactions += others[i];
}

class Tree final : public ForceKernel, public TreeFacet, public DivisionFacet {
 public:
  Tree(const Settings& settings, const cuda::Device& device)
      : device_{device},
        theta_{theta(settings)},
        tolerance_{tolerance(settings)},
        leaf_{settings.integer("leaf")},
        group_{settings.integer("group")},
        split_{settings.integer("split")},
        far_{far_field(settings)},
        rebuild_{settings.integer("rebuild")} {}

  void prepare(int count) override {
    if (count > Octree::most_bodies) {
      throw UsageError("cuda-tree takes at most " + std::to_string(Octree::most_bodies) + " bodies");
    }
    if (sort_count_ == count) return;
    // Reset first: if an allocation fails, the order for another number of bodies must not be used again.
    sort_count_ = 0;
    bodies_replaced();
    order_ = nullptr;
    const auto bodies = static_cast<std::size_t>(count);
    const auto take = [this](auto& array, std::size_t size, const char* what) {
      take_scratch(device_, array, size, std::string{"cuda-tree: "} + what, "fewer bodies");
    };
    take(keys_, 2 * bodies, "the keys");
    take(numbers_, 2 * bodies, "the bodies' numbers");
    take(sorted_, bodies, "the sorted bodies");
    take(sort_space_, sort_bytes(device_, count), "the sort's buffers");
    const auto cells = static_cast<std::size_t>(Octree::capacity_for(count));
    take(links_, cells, "the cells");
    take(nodes_, cells, "the cells");
    for (auto* array : {&tests_, &moments_a_, &moments_b_, &low_, &high_}) take(*array, cells, "the cells");
    if (far_ == FarField::high) take(high_moments_, cells * high::stored_vectors, "the cells' high moments");
    take(groups_, cells + bodies / least_group, "the groups");
    take(state_, 1, "the counters");
    sort_count_ = count;
  }

  void bodies_replaced() override {
    since_rebuild_ = 0;
    aging_.forget();
  }

  void do_evaluate(const ForceArgs& args) override {
    sort_bodies(args);
    walk_part(args, {});
    finish(args);
  }

  /// The others need no order of their own, so that all walk groups of the same tree.
  DivisionFacet* division() override { return this; }
  void prepare_division(int count, int index, int /*devices*/) override {
    prepare(count);
    if (index == 0) take_counters();
  }
  std::vector<DeviceBlock> share_out(const ForceArgs& args) override {
    sort_bodies(args);
    const auto bodies = static_cast<std::size_t>(args.count);
    const std::size_t flagged = args.targets ? bodies : 0;
    return {{now_.bodies, bodies * sizeof(Vec4)},
            {const_cast<std::uint64_t*>(now_.keys), keeps_cells_ ? 0 : bodies * sizeof(std::uint64_t)},
            {const_cast<int*>(now_.order), flagged * sizeof(int)},
            {is_target_.data(), flagged}};
  }
  bool keeps_shared() const override { return false; }  // the accelerations take the memory of the keys
  std::vector<DeviceBlock> receive(const ForceArgs& args, std::span<const DeviceBlock> shared) override {
    prepare(args.count);
    keeps_cells_ = shared[1].bytes == 0;
    now_ = tree_for(args.count);
    now_.keys = keys_.data();
    now_.order = numbers_.data();
    take_flags(shared[3].bytes);
    return {{sorted_.data(), shared[0].bytes},
            {keys_.data(), shared[1].bytes},
            {numbers_.data(), shared[2].bytes},
            {is_target_.data(), shared[3].bytes}};
  }
  void evaluate_part(const ForceArgs& args, const Part& part) override {
    if (part.index > 0 && !keeps_cells_) clear_state(now_, args.stream);
    walk_part(args, part);
  }
  std::vector<DeviceBlock> results(const ForceArgs& /*args*/, const Part& part) override {
    return {accelerations_of(part), {&state_.data()->found.interactions, sizeof(TreeCounts::interactions)}};
  }
  std::vector<DeviceBlock> places(const ForceArgs& /*args*/, const Part& part) override {
    take_counters();
    return {accelerations_of(part), {others_.data() + (part.index - 1), sizeof(TreeCounts::interactions)}};
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    add_interactions<<<1, 1, 0, args.stream>>>(&state_.data()->found, others_.data(),
                                               static_cast<int>(parts.size()) - 1);
    ORRERY_CUDA_CHECK_LAUNCH(add_interactions);
    finish(args);
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    return {.function = walk_octree_function(law.id, far_),
            .block = walk_octree_block,
            .blocks = walk_octree_blocks(device_, law.id, far_, count, split_for(count, count, count))};
  }

  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return "groups of " + std::to_string(group_for(count)) + ", split " +
           std::to_string(split_for(count, count, count));
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return log_.report(); }

  void prepare_cells(const CellRequest& request, int count) override {
    picker_.prepare(std::min(request.most, Octree::capacity_for(count)));
    if (request.walk_of != CellRequest::nobody) walks_.prepare();
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    walks_.forget();
    if (!order_) return picker_.forget();
    Octree tree = tree_for(sort_count_);
    tree.order = order_;
    picker_.pick(OctreeCells{tree}, std::min(request.most, Octree::capacity_for(sort_count_)), request.level, stream);
    if (request.walk_of >= 0 && request.walk_of < sort_count_) {
      walks_.read(tree, OctreeCells{tree}, law_, request.walk_of, stream);
    }
  }
  std::optional<PickedCells> cells() const override {
    std::optional<PickedCells> picked = picker_.cells();
    if (picked) picked->walk = walks_.walk();
    return picked;
  }

 private:
  int group_for(int count) const {
    constexpr int many = 1 << 18;
    return group_ > 0 ? group_ : count < many ? 32 : 64;
  }

  /// Makes the keys of all bodies and their order, unless cells are kept, and copies the bodies in that order.
  void sort_bodies(const ForceArgs& args) {
    prepare(args.count);
    // Few targets say nothing about the walks of all.
    keeps_cells_ = since_rebuild_ > 0 && (args.targets || !aging_.too_old(since_rebuild_));
    age_ = keeps_cells_ ? since_rebuild_ : 0;
    since_rebuild_ = (age_ + 1) % rebuild_;
    now_ = tree_for(args.count);
    law_ = args.law;
    log_.begin(args);
    KeyBuffers buffers{keys_.data(), keys_.data() + args.count, numbers_.data(), numbers_.data() + args.count};
    if (!keeps_cells_) find_keys(device_, now_, args.bodies, buffers.keys, buffers.numbers, args.stream);
    log_.next_phase();
    if (!keeps_cells_) {
      sort_keys(buffers, args.count, sort_space_.data(), sort_space_.size(), args.stream);
      order_ = buffers.numbers;
    }
    now_.keys = buffers.keys;
    now_.order = order_;
    gather_bodies(now_, args.bodies, args.stream);
    if (args.targets) mark_targets(args);
  }

  /// Builds the tree over the sorted bodies, and walks from those of a part.
  void walk_part(const ForceArgs& args, const Part& part) {
    const auto next_phase = [&] {
      if (part.index == 0) log_.next_phase();
    };
    now_.first_wanted = part.first(args.count);
    now_.end_wanted = part.last(args.count);
    const int bodies = std::max(now_.end_wanted - now_.first_wanted, 1);
    const auto targets = static_cast<int>(static_cast<std::int64_t>(args.target_count()) * bodies / args.count);
    now_.split = split_for(args.count, bodies, std::max(targets, 1));
    next_phase();
    build_octree(device_, now_, keeps_cells_, args.stream);
    next_phase();
    walk_octree(device_, now_, args.law, flags(args), args.stream);
  }

  void finish(const ForceArgs& args) {
    log_.finish(args, now_.accelerations, now_.order, &state_.data()->found, update_block, flags(args),
                args.targets ? nullptr : aging_.note(age_));
  }

  DeviceBlock accelerations_of(const Part& part) const {
    const int first = part.first(now_.count);
    return {now_.accelerations + first, static_cast<std::size_t>(part.last(now_.count) - first) * sizeof(Vec4)};
  }

  /// Doubles the warps until they fill the GPU and a quarter more. Each of them tests all cells, which costs more than
  /// it gains where there are enough warps. Of `count` bodies, `bodies` walk, of which `targets` count. Of the walk
  /// with high moments only 12 warps are resident, but measured on an H100, it gains from as many warps as the others.
  int split_for(int count, int bodies, int targets) const {
    if (split_ > 0) return split_;
    constexpr int resident_warps = 20;  // of a multiprocessor
    const int wanted = resident_warps * device_.multiprocessors() * 5 / 4;
    const int groups = std::min(cuda::ceil_div(bodies, group_for(count)), targets);
    int split = 1;
    while (split < octree_split_values.largest && groups * split < wanted) split *= 2;
    return split;
  }

  /// Of the interactions that other devices evaluate.
  void take_counters() { take_scratch(device_, others_, most_devices, "cuda-tree: the counters", "fewer bodies"); }

  /// One byte per body, for walk_octree(); null if every body is wanted.
  const unsigned char* flags(const ForceArgs& args) const { return args.targets ? is_target_.data() : nullptr; }
  void take_flags(std::size_t bodies) {
    take_scratch(device_, is_target_, bodies, "cuda-tree: the flags of the targets", "fewer bodies");
  }
  void mark_targets(const ForceArgs& args) {
    const auto bodies = static_cast<std::size_t>(args.count);
    take_flags(bodies);
    ORRERY_CUDA_CHECK(cudaMemsetAsync(is_target_.data(), 0, bodies, args.stream));
    mark<<<cuda::ceil_div(args.targets.count, update_block), update_block, 0, args.stream>>>(args.targets,
                                                                                             is_target_.data());
    ORRERY_CUDA_CHECK_LAUNCH(mark);
  }

  /// The tree without the keys and the order, which the sort sets.
  Octree tree_for(int count) {
    return {.count = count,
            .leaf = leaf_,
            .capacity = Octree::capacity_for(count),
            .group = group_for(count),
            .theta = theta_,
            .tolerance = tolerance_,
            .far = far_,
            .state = state_.data(),
            .bodies = sorted_.data(),
            .accelerations = reinterpret_cast<Vec4*>(keys_.data()),
            .links = links_.data(),
            .nodes = nodes_.data(),
            .tests = tests_.data(),
            .moments_a = moments_a_.data(),
            .moments_b = moments_b_.data(),
            .low = low_.data(),
            .high = high_.data(),
            .high_moments = high_moments_.data(),
            .groups = groups_.data()};
  }

  const cuda::Device& device_;
  float theta_, tolerance_;
  int leaf_, group_, split_;  // group and split 0: auto
  FarField far_;
  int rebuild_;
  int since_rebuild_ = 0;
  int age_ = 0;                 // of the cells in the present evaluation
  int sort_count_ = 0;          // bodies that the memory is allocated for; 0: none
  const int* order_ = nullptr;  // of the latest sort; null: none
  Octree now_;                  // of the present evaluation
  bool keeps_cells_ = false;    // in the present evaluation
  cuda::DeviceArray<std::uint64_t> keys_;
  cuda::DeviceArray<int> numbers_;
  cuda::DeviceArray<Vec4> sorted_, tests_, moments_a_, moments_b_, low_, high_, high_moments_;
  cuda::DeviceArray<unsigned char> sort_space_, is_target_;
  cuda::DeviceArray<OctreeLinks> links_;
  cuda::DeviceArray<OctreeNode> nodes_;
  cuda::DeviceArray<OctreeGroup> groups_;
  cuda::DeviceArray<OctreeState> state_;
  TreeLog log_{device_, phases};
  CellAging aging_{device_};
  CellPicker picker_{device_};
  WalkReader walks_{device_};
  Law law_;                                       // of the latest evaluation
  cuda::DeviceArray<unsigned long long> others_;  // interactions that other devices counted
};

}  // namespace

ORRERY_KERNEL(
    cuda_tree, .id = "cuda-tree", .title = "CUDA tree",
    .notes =
        "Barnes-Hut: bodies sorted along Hilbert's curve, an octree over the sorted keys, quadrupoles, and groups of "
        "neighbours that walk together. Of repulsion, cells far away have the monopole alone.",
    .source = "NYU lecture 13 (row 11) in today's form: Bedorf, Gaburov and Portegies Zwart 2012",
    .lesson =
        "Sorting first makes everything else regular: cells are ranges of bodies, neighbours share one list of cells, "
        "and the inner loops are as tight as a direct sum's.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-3, .max = 0.1}, .repeatable = false,
    .takes_targets = true, .divides = true, .is_tree = true, .full_fp32 = false, .candidates = candidates,
    .create = create_kernel<Tree>);

}  // namespace orrery
