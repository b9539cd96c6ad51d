#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/instances.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_tile_a_block),
};

/// A body in a tile; two 16-byte loads bring it.
struct alignas(16) Body {
  double x = 0, y = 0, z = 0, w = 0;  // w: the mass
};

__device__ Body widened(const Vec4& body) {
  return {static_cast<double>(body.x), static_cast<double>(body.y), static_cast<double>(body.z),
          static_cast<double>(body.w)};
}

template <LawId law>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairConstantsOf<double> constants,
                           Epilogue epilogue) {
  extern __shared__ Body tile[];
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) * width + lane;
  const Body me = i < count ? widened(bodies[i]) : Body{};  // no early return: every thread meets the barriers
  const auto pair = pair_law<law, double>(constants);
  Vec3d acceleration;
  for (int first = 0; first < count; first += width) {
    tile[lane] = first + lane < count ? widened(bodies[first + lane]) : Body{};  // a zero mass pulls nothing
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < width; ++j) add_pull(acceleration, pair, me.x, me.y, me.z, tile[j]);
    __syncthreads();  // nobody refills the tile while others still read it
  }
  if (i >= count) return;
  epilogue.finish(
      i, bodies[i].w,
      {static_cast<float>(acceleration.x), static_cast<float>(acceleration.y), static_cast<float>(acceleration.z)});
}

class Fp64 final : public BlockKernel<const Vec4*, int, PairConstantsOf<double>, Epilogue> {
 public:
  Fp64(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-fp64", device, settings, {.shared_bytes = sizeof(Body)}, [](LawId law) {
                      return law_values.dispatch(
                          law, [](auto chosen) -> Instance { return accelerate<decltype(chosen)::value>; });
                    }} {}

  void evaluate(const ForceArgs& args) override {
    launch(args, args.bodies, args.count, PairConstantsOf<double>{args.law}, args.epilogue);
  }
};

}  // namespace

ORRERY_KERNEL(
    cuda_fp64, .id = "cuda-fp64", .title = "CUDA fp64",
    .notes = "The tiled kernel in double precision: only the float positions and the rounding at the end lose digits.",
    .source = "CUDA Handbook 14.2, the template with double (row 7)",
    .lesson =
        "Double precision leaves an error of one rounding, where float leaves that of a long sum. It costs the ratio "
        "of the units: half the float rate on GPUs made for science, 1/32 or 1/64 on others, and a reciprocal square "
        "root that takes several instructions on all of them.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-7, .max = 1e-6},
    .create = create_kernel<Fp64>);

}  // namespace orrery
