#include "compute/cuda/warp.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable("Threads in a block.", "128"),
    bodies_per_thread_tunable("1"),
};

// A new kernel can start from here (orrery new-kernel):
constexpr int warp = 32;

/// Unroll factor of the loop over the 32 bodies of a warp. With 32, nvcc moves the broadcasts so far ahead of their use
/// that the kernel needs 255 registers.
constexpr int unroll = 8;

__device__ __forceinline__ float broadcast(float value, int lane) {
  return __shfl_sync(cuda::all_lanes, value, lane);
}

/// Sums `bodies_per_thread * blockDim.x` targets per block over all bodies. Target k < `targets` is body body_of(k).
template <int bodies_per_thread, class PairLaw, class BodyOf>
__device__ __forceinline__ void accelerate_block(const Vec4* __restrict__ bodies, int count, int targets,
                                                 const BodyOf& body_of, const PairLaw& pair, const Epilogue& epilogue) {
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x) % warp;
  const int first = static_cast<int>(blockIdx.x) * width * bodies_per_thread + static_cast<int>(threadIdx.x);

  Vec4 mine[bodies_per_thread];
  Vec3 acceleration[bodies_per_thread];
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int place = first + k * width;  // no early return: all lanes must take part in the broadcasts
    mine[k] = place < targets ? bodies[body_of(place)] : Vec4{};
  }

  const auto load = [&](int j) { return j < count ? bodies[j] : Vec4{}; };  // padding: zero mass pulls nothing
  Vec4 next = load(lane);
  for (int begin = 0; begin < count; begin += warp) {
    const Vec4 held = next;
    next = load(begin + warp + lane);  // prefetches 32 bodies while the warp computes
#pragma unroll unroll
    for (int source = 0; source < warp; ++source) {
      const Vec4 body{broadcast(held.x, source), broadcast(held.y, source), broadcast(held.z, source),
                      broadcast(held.w, source)};
#pragma unroll
      for (int k = 0; k < bodies_per_thread; ++k) {
        add_pull(acceleration[k], pair, mine[k].x, mine[k].y, mine[k].z, body);
      }
    }
  }

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int place = first + k * width;
    if (place < targets) epilogue.finish(body_of(place), mine[k].w, acceleration[k]);
  }
}
// to here.

template <LawId law, int bodies_per_thread>
__global__ void __launch_bounds__(max_block)
    accelerate(const Vec4* __restrict__ bodies, int count, PairConstants constants, Epilogue epilogue) {
  accelerate_block<bodies_per_thread>(
      bodies, count, count, [](int place) { return place; }, pair_law<law, float>(constants), epilogue);
}

class Shuffle final : public BlockKernel<const Vec4*, int, PairConstants, Epilogue> {
 public:
  Shuffle(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-shuffle",
                    device,
                    settings,
                    {.bodies = settings.integer("bodies-per-thread")},
                    dispatch_by_bodies(settings, [](auto law, auto bodies) -> Instance {
                      return accelerate<decltype(law)::value, decltype(bodies)::value>;
                    })} {}

  void do_evaluate(const ForceArgs& args) override {
    launch(args, args.bodies, args.count, PairConstants{args.law}, args.epilogue);
  }
};

}  // namespace

ORRERY_KERNEL(
    cuda_shuffle, .id = "cuda-shuffle", .title = "CUDA warp shuffle",
    .notes = "Each lane of a warp loads one body, and shuffles broadcast the 32 of them in turn: no shared memory.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14, warp shuffle",
    .lesson =
        "The lanes of a warp can read each other's registers, so a tile needs neither shared memory nor barriers. "
        "It takes four shuffles to pass a body on where shared memory takes one 16-byte read, so each should serve "
        "several pairs.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<Shuffle>);

}  // namespace orrery
