#include <algorithm>
#include <numeric>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/passes.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Values<1, 2, 4, 8, 16, 32, 64> split_values;
constexpr auto splits_or_auto = split_values.names_after("auto");
constexpr Tunable tunables[] = {
    block_tunable(one_tile_per_block),
    bodies_per_thread_tunable("2"),
    {.name = "split",
     .notes = "Blocks that share the sum over j of the same bodies; auto fills the GPU where bodies alone do not.",
     .values = splits_or_auto,
     .initial = "auto"},
    unroll_tunable("8"),
    epilogue_tunable,
    rsqrt_tunable,
    ftz_tunable,
    layout_tunable,
};
constexpr const char* candidates[] = {"", "block=128", "block=512", "bodies-per-thread=4"};
constexpr int max_split = split_values.largest;
constexpr int max_target_split = 512;  // maximum split for few targets: one block of them then fills a large GPU
constexpr int block_divisor =          // divides every value of `block`
    std::accumulate(block_values.all.begin(), block_values.all.end(), 0,
                    [](int divisor, int block) { return std::gcd(divisor, block); });

// A new kernel can start from here (orrery new-kernel):
/// Sums `bodies_per_thread * blockDim.x` targets per block. Row blockIdx.y of the grid sums over its part of the source
/// tiles. With one row, the sums go to the epilogue; with more, to `partials`, one row per split. Target k < `targets`
/// is body body_of(k).
///
/// `layout` need not be a template parameter: it affects only how a tile is filled, once for blockDim.x interactions.
/// The tile itself always holds Vec4. Vliora & Liaskonis 2025 gain from a structure of arrays here by coalesced loads.
template <LawId law, class Real, int bodies_per_thread, int unroll, class BodyOf>
__device__ __forceinline__ void accelerate_block(const BodyArrays& bodies, Layout layout, int count, int targets,
                                                 const BodyOf& body_of, const PairConstants& constants,
                                                 Vec4* __restrict__ partials, const Epilogue& epilogue) {
  extern __shared__ Vec4 tile[];
  const auto pair = pair_law<law, Real>(constants);
  const int width = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(blockIdx.x) * width * bodies_per_thread + static_cast<int>(threadIdx.x);

  Vec4 mine[bodies_per_thread];
  Vec3Of<Real> sum[bodies_per_thread];
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    mine[k] =
        i < targets ? bodies.load(layout, body_of(i)) : Vec4{};  // no early return: all threads must reach the barriers
  }

  const int tiles = (count + width - 1) / width;
  const int splits = static_cast<int>(gridDim.y), split = static_cast<int>(blockIdx.y);
  const int begin = static_cast<int>(static_cast<long long>(tiles) * split / splits);
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);
  for (int t = begin; t < end; ++t) {
    const int j = t * width + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = j < count ? rotated(bodies.load(layout, j)) : Vec4{};  // padding: zero mass pulls nothing
    __syncthreads();
    unrolled_for<unroll, block_divisor>(width, [&](int next) {
      const Vec4 body = rotated_back(load_vec4(tile + next));
#pragma unroll
      for (int k = 0; k < bodies_per_thread; ++k) {
        add_pull(sum[k], pair, Real{mine[k].x}, Real{mine[k].y}, Real{mine[k].z}, body);
      }
    });
    __syncthreads();  // the tile is refilled only after all threads have read it
  }

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    if (i >= targets) continue;
    const Vec3 a = values(sum[k]);
    if (splits == 1) {
      epilogue.finish(body_of(i), mine[k].w, a);
    } else {
      partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(targets) + i] = {a.x, a.y, a.z, 0};
    }
  }
}
// to here.

/// Evaluates `targets` consecutive bodies, from body `first_target` on.
template <LawId law, class Real, int bodies_per_thread, int unroll>
__global__ void accelerate(BodyArrays bodies, Layout layout, int count, int first_target, int targets,
                           PairConstants constants, Vec4* __restrict__ partials, Epilogue epilogue) {
  accelerate_block<law, Real, bodies_per_thread, unroll>(
      bodies, layout, count, targets, [=](int place) { return first_target + place; }, constants, partials, epilogue);
}

/// Evaluates any targets. The settings that are fixed here change at most the order of the additions, so one value of
/// each is enough. One body per thread suits few targets.
template <LawId law, class Real>
__global__ void __launch_bounds__(max_block)
    accelerate_targets(BodyArrays bodies, int count, Targets targets, PairConstants constants,
                       Vec4* __restrict__ partials, Epilogue epilogue) {
  accelerate_block<law, Real, 1, 8>(
      bodies, Layout::float4, count, targets.count, [&](int place) { return targets.body(place); }, constants, partials,
      epilogue);
}

class Tiled final : public BlockKernel<BodyArrays, Layout, int, int, int, PairConstants, Vec4*, Epilogue> {
 public:
  Tiled(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-tiled",
                    device,
                    settings,
                    {.bodies = settings.integer("bodies-per-thread"), .shared_bytes = sizeof(Vec4)},
                    instances(settings)},
        bodies_per_thread_{settings.integer("bodies-per-thread")},
        arithmetic_{arithmetic(settings)},
        split_{settings.integer("split")},
        stores_first_{stores_first(settings)},
        bodies_{device, layout_values.find(settings.text("layout"))} {}

  void prepare(int count) override {
    bodies_.prepare(count);
    if (stores_first_) stored_epilogue_.prepare(count);
    prepare_partials(split_for(count, count), count);
  }

  void do_evaluate(const ForceArgs& args) override {
    if (args.targets) return args.targets.first >= 0 ? evaluate_neighbours(args) : evaluate_targets(args);
    prepare(args.count);
    const Epilogue epilogue = stores_first_ ? stored_epilogue_.storing(args) : args.epilogue;
    const int split = sum_up(args, 0, args.count, epilogue);
    if (split > 1) finish_partial_sums(partials_.data(), split, args.bodies, args.count, epilogue, args.stream);
    if (stores_first_) stored_epilogue_.finish(args);
  }

  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return "split " + std::to_string(split_for(count, count));
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    MainLaunch launch = BlockKernel::main_launch(law, count, masses);
    launch.blocks *= split_for(count, count);
    return launch;
  }

 private:
  static std::function<Instance(LawId)> instances(const Settings& settings) {
    return dispatch_by_arithmetic(settings, [bodies = settings.integer("bodies-per-thread"),
                                             unroll = settings.integer("unroll")](auto law, auto real) {
      return bodies_per_thread_values.dispatch(bodies, [&](auto chosen_bodies) {
        return unroll_values.dispatch(unroll, [&](auto chosen_unroll) -> Instance {
          return accelerate<decltype(law)::value, decltype(real), decltype(chosen_bodies)::value,
                            decltype(chosen_unroll)::value>;
        });
      });
    });
  }

  /// Enqueues the sums of `targets` bodies from `first_target` on. Returns the split; if it is above 1, the caller must
  /// add up the partial sums.
  int sum_up(const ForceArgs& args, int first_target, int targets, const Epilogue& epilogue) {
    const int split = split_for(targets, args.count);
    const dim3 grid(static_cast<unsigned>(blocks(targets)), static_cast<unsigned>(split));
    launch_grid(args, grid, bodies_.arranged(args), bodies_.layout(), args.count, first_target, targets,
                PairConstants{args.law}, partials_.data(), epilogue);
    return split;
  }

  /// Evaluates targets with consecutive indices, which may be many. Uses all settings but `epilogue`, which does not
  /// change the sums.
  void evaluate_neighbours(const ForceArgs& args) {
    const Targets& targets = args.targets;
    bodies_.prepare(args.count);
    prepare_partials(split_for(targets.count, args.count), targets.count);
    const int split = sum_up(args, targets.first, targets.count, args.epilogue);
    if (split > 1) {
      finish_partial_sums_of_targets(partials_.data(), split, args.bodies, targets, args.epilogue, args.stream);
    }
  }

  void evaluate_targets(const ForceArgs& args) {
    const int targets = args.targets.count;
    const int most = std::min(max_target_split, cuda::ceil_div(args.count, block()));
    const int split = split_ > 0 ? std::min(split_, most)
                                 : fastest_split(targets, args.count, block(), 1, device().multiprocessors(), most);
    prepare_partials(split, targets);
    const dim3 blocks{static_cast<unsigned>(cuda::ceil_div(targets, block())), static_cast<unsigned>(split)};
    dispatch_arithmetic(args.law.id, arithmetic_, [&](auto law, auto real) {
      accelerate_targets<decltype(law)::value, decltype(real)>
          <<<blocks, block(), block() * sizeof(Vec4), args.stream>>>({.vectors = args.bodies}, args.count, args.targets,
                                                                     PairConstants{args.law}, partials_.data(),
                                                                     args.epilogue);
    });
    ORRERY_CUDA_CHECK_LAUNCH(accelerate_targets);
    if (split > 1) {
      finish_partial_sums_of_targets(partials_.data(), split, args.bodies, args.targets, args.epilogue, args.stream);
    }
  }

  void prepare_partials(int split, int targets) {
    take_scratch(device(), partials_,
                 split > 1 ? static_cast<std::size_t>(split) * static_cast<std::size_t>(targets) : 0,
                 "cuda-tiled: the partial sums of split=" + std::to_string(split), "a smaller split");
  }

  int split_for(int targets, int count) const {
    const int most = std::min(max_split, cuda::ceil_div(count, block()));
    if (split_ > 0) return std::min(split_, most);
    if (targets != chosen_for_targets_ || count != chosen_for_) {
      chosen_split_ = fastest_split(targets, count, block(), bodies_per_thread_, device().multiprocessors(), most);
      chosen_for_targets_ = targets;
      chosen_for_ = count;
    }
    return chosen_split_;
  }

  int bodies_per_thread_;
  Arithmetic arithmetic_;
  int split_;  // 0: chosen by split_for()
  bool stores_first_;
  mutable int chosen_for_targets_ = 0, chosen_for_ = 0, chosen_split_ = 1;
  BodyLayout bodies_;
  StoredEpilogue stored_epilogue_{device()};
  cuda::DeviceArray<Vec4> partials_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_tiled, .id = "cuda-tiled", .title = "CUDA tiled",
    .notes =
        "Blocks stage tiles of bodies in shared memory; threads hold several bodies in registers. Brute Force N-Body "
        "Optimization reads past the array where the block does not divide N, and omits the barrier before a tile's "
        "refill. Vliora & Liaskonis sum "
        "the last tile apart, where here bodies without mass fill it.",
    .source =
        "Brute Force N-Body Optimization, v3, blocks of 1,024 threads; Vliora & Liaskonis 2025: tiling, layouts, "
        "unrolling, arithmetic",
    .lesson =
        "A tile in shared memory turns one slow read per pair into one per tile. Holding several bodies in registers "
        "lets one shared read serve several pairs, and then the arithmetic itself is the limit.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3}, .takes_targets = true,
    .candidates = candidates, .create = create_kernel<Tiled>);

}  // namespace orrery
