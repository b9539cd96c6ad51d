#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_tile_per_block),
};
constexpr const char* candidates[] = {""};

// A new kernel can start from here (orrery new-kernel):
/// A body in a shared-memory tile. Reading it takes two 16-byte loads.
struct alignas(16) Body {
  double x = 0, y = 0, z = 0, w = 0;  // position; w: mass
};

/// Returns body `i` in double. `low`: low words of the double-float coordinates; null: there are none.
__device__ __forceinline__ Body body_at(const Vec4* __restrict__ bodies, const Vec4* __restrict__ low, int i) {
  const Vec4 body = bodies[i];
  const Vec3d at = joined<double>(body, low ? low[i] : Vec4{});
  return {at.x, at.y, at.z, static_cast<double>(body.w)};
}

/// Adds the pull of all bodies on `me`. All threads of a block must call this, because they fill each tile together.
template <class PairLaw>
__device__ __forceinline__ void add_all_pulls(Vec3d& acceleration, const PairLaw& pair, const Body& me,
                                              const Vec4* __restrict__ bodies, const Vec4* __restrict__ low,
                                              int count) {
  extern __shared__ Body tile[];
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  for (int first = 0; first < count; first += width) {
    tile[lane] = first + lane < count ? body_at(bodies, low, first + lane) : Body{};  // a zero mass pulls nothing
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < width; ++j) add_pull(acceleration, pair, me.x, me.y, me.z, tile[j]);
    __syncthreads();  // the tile is refilled only after all threads have read it
  }
}
// to here.

template <LawId law>
__global__ void accelerate(const Vec4* __restrict__ bodies, const Vec4* __restrict__ low, int count,
                           PairConstantsOf<double> constants, Epilogue epilogue) {
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) * width + lane;
  const Body me = i < count ? body_at(bodies, low, i) : Body{};  // no early return: all threads must reach the barriers
  const auto pair = pair_law<law, double>(constants);
  Vec3d acceleration;
  add_all_pulls(acceleration, pair, me, bodies, low, count);
  if (i >= count) return;
  epilogue.finish(i, bodies[i].w, acceleration);
}

template <LawId law>
__global__ void __launch_bounds__(max_block)
    accelerate_targets(const Vec4* __restrict__ bodies, const Vec4* __restrict__ low, int count, Targets targets,
                       PairConstantsOf<double> constants, Epilogue epilogue) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = place < targets.count ? targets.body(place) : -1;
  const Body me = i >= 0 ? body_at(bodies, low, i) : Body{};
  const auto pair = pair_law<law, double>(constants);
  Vec3d acceleration;
  add_all_pulls(acceleration, pair, me, bodies, low, count);
  if (i >= 0) epilogue.finish(i, bodies[i].w, acceleration);
}

class Fp64 final : public BlockKernel<const Vec4*, const Vec4*, int, PairConstantsOf<double>, Epilogue> {
 public:
  Fp64(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-fp64", device, settings, {.shared_bytes = sizeof(Body)}, [](LawId law) {
                      return law_values.dispatch(
                          law, [](auto chosen) -> Instance { return accelerate<decltype(chosen)::value>; });
                    }} {}

  void do_evaluate(const ForceArgs& args) override {
    const PairConstantsOf<double> constants{args.law};
    if (!args.targets) return launch(args, args.bodies, args.bodies_low, args.count, constants, args.epilogue);
    law_values.dispatch(args.law.id, [&](auto law) {
      accelerate_targets<decltype(law)::value>
          <<<cuda::ceil_div(args.targets.count, block()), block(), block() * sizeof(Body), args.stream>>>(
              args.bodies, args.bodies_low, args.count, args.targets, constants, args.epilogue);
    });
    ORRERY_CUDA_CHECK_LAUNCH(accelerate_targets);
  }
};

}  // namespace

ORRERY_KERNEL(
    cuda_fp64, .id = "cuda-fp64", .title = "CUDA fp64",
    .notes = "The tiled kernel in double precision; it reads the low words of a compensated state.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14.2, the template with double",
    .lesson =
        "Double precision leaves an error of one rounding, where float leaves that of a long sum. It costs the ratio "
        "of the units: half the float rate on GPUs made for science, 1/32 or 1/64 on others, and a reciprocal square "
        "root that takes several instructions on all of them.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-7, .max = 1e-6}, .takes_targets = true,
    .reads_low_words = true, .candidates = candidates, .faster = "cuda-tiled", .create = create_kernel<Fp64>);

}  // namespace orrery
