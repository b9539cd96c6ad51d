#include "compute/cuda/device.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable("Threads in a block of the tiled kernel; bodies that fill no such block go to the naive kernel."),
    rsqrt_tunable,
    ftz_tunable,
};

/// Threads in a block of the remainder's kernel: one warp, so that up to 1023 bodies spread over many multiprocessors.
constexpr int remainder_block = 32;

/// Evaluates the bodies that fill whole blocks, one per thread. The sum is over all `count` bodies, so the last tile
/// may be partly filled.
template <LawId law, class Real>
__global__ void accelerate_whole_blocks(const Vec4* __restrict__ bodies, int count, PairConstants constants,
                                        Epilogue epilogue) {
  extern __shared__ Vec4 tile[];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Vec4 me = bodies[i];
  epilogue.finish(i, me.w, pull_of_counted_tiles<Real>(bodies, count, pair_law<law, Real>(constants), me, tile));
}

/// Evaluates the bodies from `first` on.
template <LawId law, class Real>
__global__ void accelerate_remainder(const Vec4* __restrict__ bodies, int count, int first, PairConstants constants,
                                     Epilogue epilogue) {
  const int i = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // safe, since no barrier follows
  const auto pair = pair_law<law, Real>(constants);
  const Vec4 me = bodies[i];
  Vec3Of<Real> sum;
#pragma unroll 16
  for (int j = 0; j < count; ++j) add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z}, bodies[j]);
  epilogue.finish(i, me.w, values(sum));
}

using Remainder = void (*)(const Vec4*, int, int, PairConstants, Epilogue);

class Hybrid final : public BlockKernel<const Vec4*, int, PairConstants, Epilogue> {
 public:
  Hybrid(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-hybrid",
                    device,
                    settings,
                    {.shared_bytes = sizeof(Vec4)},
                    dispatch_by_arithmetic(settings,
                                           [](auto law, auto real) -> Instance {
                                             return accelerate_whole_blocks<decltype(law)::value, decltype(real)>;
                                           })},
        arithmetic_{arithmetic(settings)} {}

  void do_evaluate(const ForceArgs& args) override {
    const int blocks = args.count / block(), whole = blocks * block();
    if (whole == args.count) {
      launch_whole_blocks(args, blocks);
    } else if (whole == 0) {
      launch_remainder(args, 0, args.stream);
    } else {
      // The remainder is launched first: its few slow warps then run concurrently with the tiled kernel, not after it.
      fork_.record(args.stream);
      ORRERY_CUDA_CHECK(cudaStreamWaitEvent(side_.get(), fork_.get()));
      launch_remainder(args, whole, side_.get());
      join_.record(side_.get());
      launch_whole_blocks(args, blocks);
      ORRERY_CUDA_CHECK(cudaStreamWaitEvent(args.stream, join_.get()));
    }
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    if (const int blocks = count / block(); blocks > 0) {
      MainLaunch launch = BlockKernel::main_launch(law, count, masses);
      launch.blocks = blocks;
      return launch;
    }
    return {.function = cuda::kernel_handle(remainder(law.id)),
            .block = remainder_block,
            .blocks = cuda::ceil_div(count, remainder_block)};
  }

 private:
  void launch_whole_blocks(const ForceArgs& args, int blocks) const {
    launch_grid(args, static_cast<unsigned>(blocks), args.bodies, args.count, PairConstants{args.law}, args.epilogue);
  }
  void launch_remainder(const ForceArgs& args, int first, cudaStream_t stream) const {
    remainder(args.law.id)<<<cuda::ceil_div(args.count - first, remainder_block), remainder_block, 0, stream>>>(
        args.bodies, args.count, first, PairConstants{args.law}, args.epilogue);
    ORRERY_CUDA_CHECK_LAUNCH(accelerate_remainder);
  }
  Remainder remainder(LawId law) const {
    return dispatch_arithmetic(law, arithmetic_, [](auto chosen_law, auto real) -> Remainder {
      return accelerate_remainder<decltype(chosen_law)::value, decltype(real)>;
    });
  }

  Arithmetic arithmetic_;
  cuda::Stream side_{device()};
  cuda::Event fork_{device()}, join_{device()};
};

}  // namespace

ORRERY_KERNEL(
    cuda_hybrid, .id = "cuda-hybrid", .title = "CUDA hybrid",
    .notes =
        "The tiled kernel takes the bodies that fill whole blocks and the naive kernel the remainder, in two streams "
        "at "
        "once; the source omits the barrier before a tile's next fill.",
    .source = "Brute Force N-Body Optimization, v5, blocks of 1,024 threads",
    .lesson =
        "Two kernels in two streams share the GPU, so a slow remainder can hide behind the bulk of the work. Events "
        "fork the second stream from the first and join it again, and nothing waits on the host.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<Hybrid>);

}  // namespace orrery
