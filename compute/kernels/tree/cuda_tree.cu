#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/octree_evaluation.h"
#include "compute/kernels/tree/tree_report.h"
#include "compute/kernels/tree/tree_tunables.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {
namespace {

static_assert(octree_group_values.largest == OctreeGroup::most);
static_assert(key_levels < CellPicker::most_levels);

/// Records a walk and copies it to the host. The host never waits: both are enqueued between two evaluations.
class WalkReader {
 public:
  static constexpr int most = 1 << 14;  ///< recorded cells, and leaves; the counts include all

  explicit WalkReader(const cuda::Device& device) : device_{device} {}

  /// Allocates the memory. Without this call, read() allocates.
  void prepare();
  /// Enqueues the walk of a body's group. `Cells` has cell(i) on the device.
  template <class Cells>
  void read(const Octree& tree, const Cells& cells, const Law& law, int body, cudaStream_t stream);
  void forget() { known_ = false; }
  /// Returns the latest walk; none without one, or if the body is not in the tree. Call only when the stream has passed
  /// the walk.
  std::optional<BodyWalk> walk() const;

 private:
  const cuda::Device& device_;
  bool known_ = false;
  cuda::DeviceArray<WalkFound> d_found_;
  cuda::DeviceArray<int> d_numbers_;     // cells, then leaves
  cuda::DeviceArray<TreeCell> d_cubes_;  // cubes of both
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

void WalkReader::prepare() {
  if (cubes_.size() > 0) return;
  constexpr auto lists = static_cast<std::size_t>(2 * most);
  d_found_ = cuda::DeviceArray<WalkFound>(device_, 1);
  d_numbers_ = cuda::DeviceArray<int>(device_, lists);
  d_cubes_ = cuda::DeviceArray<TreeCell>(device_, lists);
  found_ = cuda::HostArray<WalkFound>(device_, 1, /*pinned=*/true);
  cubes_ = cuda::HostArray<TreeCell>(device_, lists, /*pinned=*/true);
}

std::optional<BodyWalk> WalkReader::walk() const {
  if (!known_) return std::nullopt;
  const WalkFound& found = found_.first(1)[0];
  if (found.place < 0) return std::nullopt;
  const std::span<const TreeCell> cubes = cubes_.first(2 * most);
  const std::span<const TreeCell> cells = cubes.first(static_cast<std::size_t>(std::min(found.cells, most)));
  const std::span<const TreeCell> leaves =
      cubes.subspan(most).first(static_cast<std::size_t>(std::min(found.leaves, most)));
  return BodyWalk{{cells.begin(), cells.end()}, {leaves.begin(), leaves.end()}, found.bodies};
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

// High moments with larger leaves were faster for 65,536 to 1,048,576 bodies on an H100. Above this tolerance,
// order=local is as fast and has a smaller p99.
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
  /// Returns a cube that contains all bodies of the cell, including those beyond the border of the keys and those that
  /// left the cell after the latest sort.
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
