#include "compute/cuda/launch.h"
#include "compute/kernels/counted_tiles.h"
#include "compute/kernels/instances.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    {.name = "block",
     .notes = "Threads in a block, one body each, and bodies in a full shared-memory tile.",
     .values = block_values,
     .initial = "256"},
};

template <LawId law>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairConstants constants, Epilogue epilogue) {
  extern __shared__ Vec4 tile[];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Vec4 me = i < count ? bodies[i] : Vec4{};  // no early return: every thread meets the barriers
  const Vec3 acceleration = pull_of_counted_tiles(bodies, count, pair_law<law, float>(constants), me, tile);
  if (i < count) epilogue.finish(i, me.w, acceleration);
}
using Instance = void (*)(const Vec4*, int, PairConstants, Epilogue);

Instance instance(LawId law) {
  return choose<LawId::gravity, LawId::attract_repel>(
      law, [](auto chosen) -> Instance { return accelerate<decltype(chosen)::value>; });
}

class TiledCount final : public ForceKernel {
 public:
  explicit TiledCount(const Settings& settings) : block_{settings.integer("block")} {
    for (const LawInfo& law : laws()) {
      cuda::require_block_fits("cuda-tiled-count " + settings.to_string(), function(law.law), block_);
    }
  }

  void evaluate(const ForceArgs& args) override {
    const MainLaunch launch = main_launch(args.law, args.count);
    const std::size_t shared_bytes = launch.shared_per_thread * static_cast<std::size_t>(block_);
    instance(args.law.id)<<<launch.blocks, block_, shared_bytes, args.stream>>>(args.bodies, args.count,
                                                                                PairConstants{args.law}, args.epilogue);
    ORRERY_CUDA_CHECK_LAUNCH(accelerate);
  }

  MainLaunch main_launch(const Law& law, int count) const override {
    return {.function = function(law.id),
            .block = block_,
            .blocks = cuda::ceil_div(count, block_),
            .shared_per_thread = sizeof(Vec4)};
  }

 private:
  static const void* function(LawId law) { return reinterpret_cast<const void*>(instance(law)); }

  int block_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_tiled_count, .id = "cuda-tiled-count", .title = "CUDA tiled, counted",
    .notes =
        "The barrier that completes a shared-memory tile counts its bodies; the source omits the barrier before the "
        "next fill and reads past the array's end for threads without a body.",
    .source = "Brute Force N-Body, v5 (row 4)",
    .lesson =
        "A barrier can carry a vote, so that every thread learns without further traffic how many bodies a tile holds. "
        "Any number of bodies then fits any block, at the price of an inner loop whose length the compiler cannot "
        "know.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<TiledCount>(settings);
    });

}  // namespace orrery
