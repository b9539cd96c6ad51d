#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable("Threads in a block, one body each, and bodies in a full shared-memory tile."),
    rsqrt_tunable,
    ftz_tunable,
};

template <LawId law, class Real>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairConstants constants, Epilogue epilogue) {
  extern __shared__ Vec4 tile[];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Vec4 me = i < count ? bodies[i] : Vec4{};  // no early return: all threads must reach the barriers
  const Vec3 acceleration = pull_of_counted_tiles<Real>(bodies, count, pair_law<law, Real>(constants), me, tile);
  if (i < count) epilogue.finish(i, me.w, acceleration);
}

class TiledCount final : public BlockKernel<const Vec4*, int, PairConstants, Epilogue> {
 public:
  TiledCount(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-tiled-count",
                    device,
                    settings,
                    {.shared_bytes = sizeof(Vec4)},
                    dispatch_by_arithmetic(settings, [](auto law, auto real) -> Instance {
                      return accelerate<decltype(law)::value, decltype(real)>;
                    })} {}

  void do_evaluate(const ForceArgs& args) override {
    launch(args, args.bodies, args.count, PairConstants{args.law}, args.epilogue);
  }
};

}  // namespace

ORRERY_KERNEL(
    cuda_tiled_count, .id = "cuda-tiled-count", .title = "CUDA tiled, counted",
    .notes =
        "The barrier that completes a shared-memory tile counts its bodies; the source omits the barrier before the "
        "next fill and reads past the array's end for threads without a body.",
    .source = "Brute Force N-Body Optimization, v5, blocks of 1,024 threads",
    .lesson =
        "A barrier can carry a vote, so that every thread learns without further traffic how many bodies a tile holds. "
        "Any number of bodies then fits any block, at the price of an inner loop whose length the compiler cannot "
        "know.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<TiledCount>);

}  // namespace orrery
