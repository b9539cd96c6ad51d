#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/cell_picker.h"
#include "compute/kernels/tree/lock_kernels.h"
#include "compute/kernels/tree/tree_log.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

constexpr const char* theta_values[] = {"0.3", "0.4", "0.5", "0.6", "0.75", "1.0"};
constexpr Values<32, 64, 128, 256, 512> walk_block_values;
constexpr Values<true, false> throttle_values{"barrier", "none"};  // whether threads wait
constexpr Tunable tunables[] = {
    {.name = "theta",
     .notes = "A cell counts as one body where its edge is less than this times its distance: less is more exact.",
     .values = theta_values,
     .initial = "0.5",
     .numbers = Range<double>{0.1, 1.0}},
    {.name = "throttle",
     .notes = "barrier: a block's threads wait for each other after each attempt to insert a body; none: they do not.",
     .values = throttle_values.names(),
     .initial = "barrier"},
    {.name = "box-block",
     .notes = "Threads in a block that looks for the bounding box.",
     .values = tree_block_values.names(),
     .initial = "512"},
    {.name = "build-block",
     .notes = "Threads in a block that inserts bodies.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "summary-block",
     .notes = "Threads in a block that sums up cells.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "sort-block",
     .notes = "Threads in a block that sorts bodies.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "walk-block",
     .notes = "Threads in a block that walks the tree, 32 neighbouring bodies per warp.",
     .values = walk_block_values.names(),
     .initial = "128"},
    {.name = "update-block",
     .notes = "Threads in a block that hands bodies their accelerations.",
     .values = tree_block_values.names(),
     .initial = "256"},
};

constexpr const char* phases[] = {"bounding box", "build", "summary", "sort", "force", "update"};

static_assert(LockTree::max_level < CellPicker::most_levels);

/// The cells of the tree, for CellPicker.
struct LockCells {
  LockTree tree;

  __device__ int count() const { return tree.cells(); }
  __device__ int level(int i) const { return ilogbf(tree.cubes[0].w) - ilogbf(tree.cubes[i].w); }
  __device__ TreeCell cell(int i) const {
    const Vec4 cube = tree.cubes[i];
    return {.center = {cube.x, cube.y, cube.z}, .half_size = cube.w, .level = level(i)};
  }
};

class TreeLock final : public ForceKernel, public TreeFacet {
 public:
  TreeLock(const Settings& settings, const cuda::Device& device)
      : device_{device},
        theta_{theta(settings)},
        throttled_{throttle_values.find(settings.text("throttle"))},
        box_block_{settings.integer("box-block")},
        build_block_{settings.integer("build-block")},
        summary_block_{settings.integer("summary-block")},
        sort_block_{settings.integer("sort-block")},
        walk_block_{settings.integer("walk-block")},
        update_block_{settings.integer("update-block")} {
    const std::string what = "cuda-tree-lock " + settings.to_string();
    cuda::require_block_fits(device, what, insert_bodies_function(throttled_), build_block_);
    cuda::require_block_fits(device, what, sum_cells_function(), summary_block_);
    cuda::require_block_fits(device, what, sort_bodies_function(), sort_block_);
    for (const LawInfo& law : laws()) cuda::require_block_fits(device, what, walk_tree_function(law.law), walk_block_);
  }

  void prepare(int count) override {
    if (count > LockTree::most_bodies) {
      throw UsageError("cuda-tree-lock takes at most " + std::to_string(LockTree::most_bodies) +
                       " bodies; choose cuda-tree");
    }
    const auto take = [this](auto& array, std::size_t size, const char* what) {
      take_scratch(device_, array, size, std::string{"cuda-tree-lock: "} + what, "cuda-tree or fewer bodies");
    };
    if (evaluated_.count != count) evaluated_ = {};
    const auto cells = static_cast<std::size_t>(LockTree::room_for_cells(count));
    if (places_.size() < LockTree::places_for(count)) cleared_ = false;
    take(places_, LockTree::places_for(count), "the nodes' indices");
    take(cubes_, cells, "the cells' cubes");
    take(members_, 8 * cells, "the nodes' centres");
    take(arrivals_, cells, "the cells' counts");
    take(first_, cells, "the cells' first bodies");
    if (counters_.size() == 0) {
      take(counters_, 1, "the counters");
      cleared_ = false;
    }
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const cudaStream_t stream = args.stream;
    if (!cleared_) {
      ORRERY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, sizeof(LockCounters), stream));
      // For compute-sanitizer only: the thread that makes a cell clears its places, but initcheck does not see this in
      // a thread that learns of the cell by a release store.
      ORRERY_CUDA_CHECK(cudaMemsetAsync(places_.data(), 0xff, places_.size() * sizeof(int), stream));
    }
    cleared_ = true;
    const LockTree tree = tree_of(args);
    log_.begin(args);
    const int boxes = std::min(cuda::ceil_div(args.count, box_block_),
                               std::min(2 * device_.multiprocessors(), LockCounters::most_boxes));
    find_bounding_box(tree, {boxes, box_block_, stream});
    log_.next_phase();
    insert_bodies(tree, throttled_, resident(insert_bodies_function(throttled_), build_block_, args.count, stream));
    log_.next_phase();
    sum_cells(tree, resident(sum_cells_function(), summary_block_, args.count, stream));
    log_.next_phase();
    sort_bodies(tree, resident(sort_bodies_function(), sort_block_, args.count, stream));
    log_.next_phase();
    const MainLaunch walk = main_launch(args.law, args.count, args.masses);
    walk_tree(tree, args.law, theta_, {walk.blocks, walk.block, stream});
    log_.finish(args, tree.sorted, tree.order, &tree.counters->counts, update_block_);  // kernel 6
    evaluated_ = tree;
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    const cudaKernel_t function = walk_tree_function(law.id);
    return {.function = function,
            .block = walk_block_,
            .blocks = resident(function, walk_block_, count, nullptr, walk_bytes_per_thread).blocks,
            .shared_per_thread = walk_bytes_per_thread};
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return log_.report(); }

  void prepare_cells(const CellRequest& request, int count) override {
    picker_.prepare(std::min(request.most, LockTree::room_for_cells(count)));
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    if (evaluated_.count == 0) return picker_.forget();
    picker_.pick(LockCells{evaluated_}, std::min(request.most, evaluated_.most_cells), request.level, stream);
  }
  std::optional<PickedCells> cells() const override { return picker_.cells(); }

 private:
  LockTree tree_of(const ForceArgs& args) const {
    LockTree tree{.count = args.count,
                  .most_cells = LockTree::room_for_cells(args.count),
                  .bodies = args.bodies,
                  .counters = counters_.data(),
                  .cubes = cubes_.data(),
                  .members = members_.data(),
                  .arrivals = arrivals_.data(),
                  .first = first_.data()};
    tree.divide(places_.data());
    return tree;
  }

  /// As many blocks as are resident on the GPU at once, or as `threads` need if that is fewer.
  LockLaunch resident(cudaKernel_t function, int block, long long threads, cudaStream_t stream,
                      std::size_t shared_per_thread = 0) const {
    const int blocks =
        cuda::resident_blocks(device_, function, block, shared_per_thread * static_cast<std::size_t>(block));
    const long long needed = (threads + block - 1) / block;
    return {static_cast<int>(std::min<long long>(needed, static_cast<long long>(blocks) * device_.multiprocessors())),
            block, stream};
  }

  const cuda::Device& device_;
  float theta_;
  bool throttled_;
  int box_block_, build_block_, summary_block_, sort_block_, walk_block_, update_block_;
  cuda::DeviceArray<int> places_, first_;
  cuda::DeviceArray<Vec4> cubes_, members_;
  cuda::DeviceArray<unsigned long long> arrivals_;
  cuda::DeviceArray<LockCounters> counters_;
  bool cleared_ = false;
  LockTree evaluated_;  // the latest tree; count 0: none
  TreeLog log_{device_, phases};
  CellPicker picker_{device_};
};

}  // namespace

ORRERY_KERNEL(
    cuda_tree_lock, .id = "cuda-tree-lock", .title = "CUDA tree with locks",
    .notes =
        "Barnes-Hut in six kernels: threads insert bodies into one octree under locks, and far cells count as one "
        "body. "
        "With repulsion too, a far cell acts from its centre of mass by the law of one body.",
    .source = "NYU lecture 13, Barnes-Hut in six kernels (row 11); Burtscher and Pingali's scheme",
    .lesson =
        "A tree needs few interactions, but its kernels read memory at random, lock and wait for each other, so every "
        "one of them is arranged around that. Sorted bodies let a warp walk as one: it reads a node once and votes.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-2, .max = 1.0}, .repeatable = false,
    .is_tree = true, .full_fp32 = false, .create = create_kernel<TreeLock>);

}  // namespace orrery
