#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "compute/core/error.h"
#include "compute/cuda/device.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/partial_sums.h"

namespace orrery {
namespace {

constexpr const char* blocks[] = {"32", "64", "128", "256", "512", "1024"};
constexpr const char* rows[] = {"1", "2", "4", "8"};
constexpr const char* splits[] = {"auto", "1", "2", "4", "8", "16", "32", "64"};
constexpr Tunable tunables[] = {
    {.name = "block",
     .notes = "Threads in a block, and bodies in a shared-memory tile.",
     .values = blocks,
     .initial = "256"},
    {.name = "bodies-per-thread",
     .notes = "Bodies that a thread holds in registers, so that one read of a tile's body serves them all.",
     .values = rows,
     .initial = "2"},
    {.name = "split",
     .notes = "Blocks that share the sum over j of the same bodies; auto fills the GPU where bodies alone do not.",
     .values = splits,
     .initial = "auto"},
};
constexpr int max_split = 64;

/// Bodies of a tile in one pass of the unrolled loop. H100, 2026-11-21, 65,536 bodies, 2 a thread, block 256: 8 gave
/// 2.04 T interactions/s and 4 gave less at every setting.
constexpr int unroll = 8;

/// Each block sums `bodies_per_thread * blockDim.x` bodies over its share of the j tiles: row blockIdx.y of the grid.
/// With one row the epilogue takes the sums; with more they go to `partials`, a row a split.
template <int bodies_per_thread, class PairLaw>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairLaw law, Vec4* __restrict__ partials,
                           Epilogue epilogue) {
  extern __shared__ Vec4 tile[];
  const int width = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(blockIdx.x) * width * bodies_per_thread + static_cast<int>(threadIdx.x);

  Vec4 mine[bodies_per_thread];
  Vec3 acceleration[bodies_per_thread];
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    mine[k] = i < count ? bodies[i] : Vec4{};  // no early return: every thread meets the barriers
  }

  const int tiles = (count + width - 1) / width;
  const int splits = static_cast<int>(gridDim.y), split = static_cast<int>(blockIdx.y);
  const int begin = static_cast<int>(static_cast<long long>(tiles) * split / splits);
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);
  for (int t = begin; t < end; ++t) {
    const int j = t * width + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = j < count ? bodies[j] : Vec4{};  // a zero mass pulls nothing
    __syncthreads();
    for (int group = 0; group < width; group += unroll) {
#pragma unroll
      for (int next = 0; next < unroll; ++next) {
        const Vec4 body = tile[group + next];
#pragma unroll
        for (int k = 0; k < bodies_per_thread; ++k) {
          add_pull(acceleration[k], law, mine[k].x, mine[k].y, mine[k].z, body);
        }
      }
    }
    __syncthreads();  // nobody refills the tile while others still read it
  }

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    if (i >= count) continue;
    const Vec3 a = acceleration[k];
    if (splits == 1) {
      epilogue.finish(i, mine[k].w, a);
    } else {
      partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(count) + i] = {a.x, a.y, a.z, 0};
    }
  }
}

class Tiled final : public ForceKernel {
 public:
  explicit Tiled(const Settings& settings)
      : block_{settings.integer("block")},
        bodies_per_thread_{settings.integer("bodies-per-thread")},
        split_{settings.integer("split")} {
    const std::string what = "cuda-tiled " + settings.to_string();
    with_instance(Gravity<float>{}, [&](auto kernel) { cuda::require_block_fits(what, function(kernel), block_); });
    with_instance(AttractRepel<float>{},
                  [&](auto kernel) { cuda::require_block_fits(what, function(kernel), block_); });
  }

  void prepare(int count) override {
    const int split = split_for(count);
    const std::size_t size = split > 1 ? static_cast<std::size_t>(split) * static_cast<std::size_t>(count) : 0;
    if (partials_.size() >= size) return;
    partials_ = {};  // first the old memory, then the new
    if (const std::size_t bytes = size * sizeof(Vec4); bytes > cuda::free_memory_bytes()) {
      throw UsageError("cuda-tiled: the partial sums of split=" + std::to_string(split) + " need " +
                       std::to_string(bytes >> 20) + " MiB, more than the GPU has free; choose a smaller split");
    }
    partials_ = cuda::DeviceArray<Vec4>(size);
  }

  void evaluate(const ForceArgs& args) override {
    prepare(args.count);
    visit_pair_law<float>(args.law, [&](auto law) {
      with_instance(law, [&](auto kernel) {
        const int split = split_for(args.count);
        const dim3 grid(static_cast<unsigned>(cuda::ceil_div(args.count, block_ * bodies_per_thread_)),
                        static_cast<unsigned>(split));
        kernel<<<grid, block_, shared_bytes(), args.stream>>>(args.bodies, args.count, law, partials_.data(),
                                                              args.epilogue);
        ORRERY_CUDA_CHECK_LAUNCH(accelerate);
        if (split > 1) {
          finish_partial_sums(partials_.data(), split, args.bodies, args.count, args.epilogue, args.stream);
        }
      });
    });
  }

  std::string chosen(int count) const override { return "split " + std::to_string(split_for(count)); }

 private:
  template <class Kernel>
  static const void* function(Kernel kernel) {
    return reinterpret_cast<const void*>(kernel);
  }
  template <class PairLaw, class Use>
  void with_instance(PairLaw, Use use) const {
    switch (bodies_per_thread_) {
      case 1:
        return use(accelerate<1, PairLaw>);
      case 2:
        return use(accelerate<2, PairLaw>);
      case 4:
        return use(accelerate<4, PairLaw>);
      default:
        return use(accelerate<8, PairLaw>);
    }
  }
  std::size_t shared_bytes() const { return static_cast<std::size_t>(block_) * sizeof(Vec4); }

  int split_for(int count) const {
    const int most = std::min(max_split, cuda::ceil_div(count, block_));
    if (split_ > 0) return std::min(split_, most);
    if (count != chosen_for_) {
      chosen_split_ = fastest_split(count, most);
      chosen_for_ = count;
    }
    return chosen_split_;
  }

  /// The split that an estimate in interactions of the busiest multiprocessor likes best: its blocks times their tiles,
  /// more where its warps are too few to hide latency, and a pass over the partial sums for each split.
  int fastest_split(int count, int most) const {
    constexpr double partial_cost = 20;  // writing and reading back a partial sum takes as long as some 20 interactions
    constexpr double enough_warps = 16;
    const double multiprocessors = cuda::multiprocessors();
    const double rows = cuda::ceil_div(count, block_ * bodies_per_thread_);
    const double tile_interactions = static_cast<double>(block_) * block_ * bodies_per_thread_;
    int best = 1;
    double best_cost = std::numeric_limits<double>::infinity();
    for (int split = 1; split <= most; ++split) {
      const double blocks = std::ceil(rows * split / multiprocessors);
      const double latency = std::max(1.0, enough_warps / (blocks * block_ / 32));
      const double tiles = cuda::ceil_div(cuda::ceil_div(count, block_), split);
      const double passes = split > 1 ? split * static_cast<double>(count) * partial_cost / multiprocessors : 0;
      const double cost = blocks * tiles * tile_interactions * latency + passes;
      if (cost < best_cost) {
        best = split;
        best_cost = cost;
      }
    }
    return best;
  }

  int block_;
  int bodies_per_thread_;
  int split_;  // 0: auto
  mutable int chosen_for_ = 0, chosen_split_ = 1;
  cuda::DeviceArray<Vec4> partials_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_tiled, .id = "cuda-tiled", .title = "CUDA tiled",
    .notes = "Blocks stage tiles of bodies in shared memory; threads hold several bodies in registers.",
    .source = "Brute Force N-Body, v3 (row 3); UTH homework, tiling (row 16)",
    .lesson =
        "A tile in shared memory turns one slow read a pair into one a tile. Holding several bodies in registers lets "
        "one shared read serve several pairs, and then the arithmetic itself is the limit.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<Tiled>(settings);
    });

}  // namespace orrery
