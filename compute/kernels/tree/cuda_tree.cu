#include <algorithm>
#include <optional>
#include <string>

#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/cell_picker.h"
#include "compute/kernels/tree/octree_work.h"
#include "compute/kernels/tree/tree_domains.h"
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

static_assert(octree_group_values.largest == OctreeGroup::most);

static_assert(key_levels < CellPicker::most_levels);

/// The cells of all trees, for CellPicker. The states of the trees lie one behind the other.
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
  /// A cube that contains all bodies of the cell, including those beyond the border of the keys and those that left the
  /// cell after the latest sort.
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

  DivisionFacet* division() override { return &domains_; }

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
  /// The tree of all bodies without the keys and the order, which the sort sets.
  Octree tree_for(int count) const {
    Octree tree{.count = count, .end_cell = Octree::capacity_for(count)};
    work_.settings.apply_to(tree, count);
    work_.arrays.apply_to(tree, /*has_whole_arrays=*/true);
    // Nobody needs the keys once the tree is built.
    tree.accelerations = reinterpret_cast<Vec4*>(work_.arrays.keys());
    return tree;
  }

  OctreeWork work_;
  int sort_count_ = 0;  // bodies that the memory is allocated for; 0: none
  TreeDomains domains_{work_};
  CellPicker picker_{work_.device};
  WalkReader walks_{work_.device};
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
