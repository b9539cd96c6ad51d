#include <algorithm>
#include <string>

#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/instances.h"
#include "compute/kernels/parts/layout.h"
#include "compute/kernels/parts/partial_sums.h"
#include "compute/kernels/parts/register_banks.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/parts/stored_epilogue.h"
#include "compute/kernels/parts/tile_split.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/parts/unrolled.h"

namespace orrery {
namespace {

constexpr const char* splits[] = {"auto", "1", "2", "4", "8", "16", "32", "64"};
constexpr Tunable tunables[] = {
    block_tunable(one_tile_a_block),
    bodies_per_thread_tunable("2"),
    {.name = "split",
     .notes = "Blocks that share the sum over j of the same bodies; auto fills the GPU where bodies alone do not.",
     .values = splits,
     .initial = "auto"},
    unroll_tunable("8"),
    epilogue_tunable,
    rsqrt_tunable,
    ftz_tunable,
    layout_tunable,
};
constexpr const char* candidates[] = {"", "block=128", "block=512", "bodies-per-thread=4"};
constexpr int max_split = 64;
constexpr int block_divisor = 32;  // of every value of `block`

/// Each block sums `bodies_per_thread * blockDim.x` bodies over its share of the j tiles: row blockIdx.y of the grid.
/// With one row the epilogue takes the sums; with more they go to `partials`, a row a split.
///
/// `layout` is no template parameter: it decides only how a tile is filled, once for blockDim.x interactions, and the
/// tile itself is always Vec4. That is where the UTH homework gained from a structure of arrays, by loads that
/// coalesce.
template <LawId law, class Real, int bodies_per_thread, int unroll>
__global__ void accelerate(BodyArrays bodies, Layout layout, int count, PairConstants constants,
                           Vec4* __restrict__ partials, Epilogue epilogue) {
  extern __shared__ Vec4 tile[];
  const auto pair = pair_law<law, Real>(constants);
  const int width = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(blockIdx.x) * width * bodies_per_thread + static_cast<int>(threadIdx.x);

  Vec4 mine[bodies_per_thread];
  Vec3Of<Real> sum[bodies_per_thread];
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    mine[k] = i < count ? bodies.load(layout, i) : Vec4{};  // no early return: every thread meets the barriers
  }

  const int tiles = (count + width - 1) / width;
  const int splits = static_cast<int>(gridDim.y), split = static_cast<int>(blockIdx.y);
  const int begin = static_cast<int>(static_cast<long long>(tiles) * split / splits);
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);
  for (int t = begin; t < end; ++t) {
    const int j = t * width + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = j < count ? turned(bodies.load(layout, j)) : Vec4{};  // a zero mass pulls nothing
    __syncthreads();
    unrolled_for<unroll, block_divisor>(width, [&](int next) {
      const Vec4 body = turned_back(load_vec4(tile + next));
#pragma unroll
      for (int k = 0; k < bodies_per_thread; ++k) {
        add_pull(sum[k], pair, Real{mine[k].x}, Real{mine[k].y}, Real{mine[k].z}, body);
      }
    });
    __syncthreads();  // nobody refills the tile while others still read it
  }

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    if (i >= count) continue;
    const Vec3 a = values(sum[k]);
    if (splits == 1) {
      epilogue.finish(i, mine[k].w, a);
    } else {
      partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(count) + i] = {a.x, a.y, a.z, 0};
    }
  }
}

class Tiled final : public BlockKernel<BodyArrays, Layout, int, PairConstants, Vec4*, Epilogue> {
 public:
  Tiled(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-tiled",
                    device,
                    settings,
                    {.bodies = settings.integer("bodies-per-thread"), .shared_bytes = sizeof(Vec4)},
                    instances(settings)},
        bodies_per_thread_{settings.integer("bodies-per-thread")},
        split_{settings.integer("split")},
        stores_first_{stores_first(settings)},
        bodies_{device, layout_values.find(settings.text("layout"))} {}

  void prepare(int count) override {
    bodies_.prepare(count);
    if (stores_first_) stored_epilogue_.prepare(count);
    const int split = split_for(count);
    take_scratch(device(), partials_, split > 1 ? static_cast<std::size_t>(split) * static_cast<std::size_t>(count) : 0,
                 "cuda-tiled: the partial sums of split=" + std::to_string(split), "a smaller split");
  }

  void evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const Epilogue epilogue = stores_first_ ? stored_epilogue_.storing(args) : args.epilogue;
    const int split = split_for(args.count);
    const dim3 grid(static_cast<unsigned>(blocks(args.count)), static_cast<unsigned>(split));
    launch_grid(args, grid, bodies_.arranged(args), bodies_.layout(), args.count, PairConstants{args.law},
                partials_.data(), epilogue);
    if (split > 1) finish_partial_sums(partials_.data(), split, args.bodies, args.count, epilogue, args.stream);
    if (stores_first_) stored_epilogue_.finish(args);
  }

  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return "split " + std::to_string(split_for(count));
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    MainLaunch launch = BlockKernel::main_launch(law, count, masses);
    launch.blocks *= split_for(count);
    return launch;
  }

 private:
  static std::function<Instance(LawId)> instances(const Settings& settings) {
    return instances_by_arithmetic(settings, [bodies = settings.integer("bodies-per-thread"),
                                              unroll = settings.integer("unroll")](auto law, auto number) {
      return bodies_per_thread_values.dispatch(bodies, [&](auto chosen_bodies) {
        return unroll_values.dispatch(unroll, [&](auto chosen_unroll) -> Instance {
          return accelerate<decltype(law)::value, decltype(number), decltype(chosen_bodies)::value,
                            decltype(chosen_unroll)::value>;
        });
      });
    });
  }

  int split_for(int count) const {
    const int most = std::min(max_split, cuda::ceil_div(count, block()));
    if (split_ > 0) return std::min(split_, most);
    if (count != chosen_for_) {
      chosen_split_ = fastest_split(count, block(), bodies_per_thread_, device().multiprocessors(), most);
      chosen_for_ = count;
    }
    return chosen_split_;
  }

  int bodies_per_thread_;
  int split_;  // 0: auto
  bool stores_first_;
  mutable int chosen_for_ = 0, chosen_split_ = 1;
  BodyLayout bodies_;
  StoredEpilogue stored_epilogue_{device()};
  cuda::DeviceArray<Vec4> partials_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_tiled, .id = "cuda-tiled", .title = "CUDA tiled",
    .notes =
        "Blocks stage tiles of bodies in shared memory; threads hold several bodies in registers. Row 3's source reads "
        "past the array where the block does not divide N and omits the barrier before a tile's refill; row 16's sums "
        "the last tile apart, where here bodies without mass fill it.",
    .source =
        "Brute Force N-Body, v3 (row 3); UTH homework: tiling, layouts, unrolling, arithmetic (rows 15, 16, 17, 20)",
    .lesson =
        "A tile in shared memory turns one slow read a pair into one a tile. Holding several bodies in registers lets "
        "one shared read serve several pairs, and then the arithmetic itself is the limit.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .candidates = candidates, .create = create_kernel<Tiled>);

}  // namespace orrery
