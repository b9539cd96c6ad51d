#include <string>

#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    {.name = "block",
     .notes = "Threads in a block, one body each, and bodies in a shared-memory tile.",
     .values = block_values,
     .initial = "256"},
};

/// A body in a tile; two 16-byte loads bring it.
struct alignas(16) Body {
  double x = 0, y = 0, z = 0, w = 0;  // w: the mass
};

__device__ Body widened(const Vec4& body) {
  return {static_cast<double>(body.x), static_cast<double>(body.y), static_cast<double>(body.z),
          static_cast<double>(body.w)};
}

template <class PairLaw>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairLaw law, Epilogue epilogue) {
  extern __shared__ Body tile[];
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) * width + lane;
  const Body me = i < count ? widened(bodies[i]) : Body{};  // no early return: every thread meets the barriers
  Vec3d acceleration;
  for (int first = 0; first < count; first += width) {
    tile[lane] = first + lane < count ? widened(bodies[first + lane]) : Body{};  // a zero mass pulls nothing
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < width; ++j) add_pull(acceleration, law, me.x, me.y, me.z, tile[j]);
    __syncthreads();  // nobody refills the tile while others still read it
  }
  if (i >= count) return;
  epilogue.finish(
      i, bodies[i].w,
      {static_cast<float>(acceleration.x), static_cast<float>(acceleration.y), static_cast<float>(acceleration.z)});
}

class Fp64 final : public ForceKernel {
 public:
  explicit Fp64(const Settings& settings) : block_{settings.integer("block")} {
    const std::string what = "cuda-fp64 " + settings.to_string();
    for (const LawInfo& law : laws()) cuda::require_block_fits(what, main_launch({.id = law.law}, 1).function, block_);
  }

  void evaluate(const ForceArgs& args) override {
    visit_pair_law<double>(args.law, [&](auto law) {
      accelerate<<<cuda::ceil_div(args.count, block_), block_, tile_body_bytes* static_cast<std::size_t>(block_),
                   args.stream>>>(args.bodies, args.count, law, args.epilogue);
      ORRERY_CUDA_CHECK_LAUNCH(accelerate);
    });
  }

  MainLaunch main_launch(const Law& law, int count) const override {
    const void* function = visit_pair_law<double>(
        law, [](auto pair_law) { return reinterpret_cast<const void*>(accelerate<decltype(pair_law)>); });
    return {.function = function,
            .block = block_,
            .blocks = cuda::ceil_div(count, block_),
            .shared_per_thread = tile_body_bytes};
  }

 private:
  static constexpr std::size_t tile_body_bytes = sizeof(Body);
  int block_;
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
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<Fp64>(settings);
    });

}  // namespace orrery
