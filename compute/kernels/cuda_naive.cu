#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

constexpr const char* blocks[] = {"32", "64", "128", "256", "512", "1024"};
constexpr Tunable tunables[] = {
    {.name = "block", .notes = "Threads in a block, one body each.", .values = blocks, .initial = "256"},
};

template <class PairLaw>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, PairLaw law, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // no barrier follows
  const Vec4 me = bodies[i];
  Vec3 acceleration;
#pragma unroll 16
  for (int j = 0; j < count; ++j) add_pull(acceleration, law, me.x, me.y, me.z, bodies[j]);
  epilogue.finish(i, me.w, acceleration);
}

class Naive final : public ForceKernel {
 public:
  explicit Naive(const Settings& settings) : block_{settings.integer("block")} {
    const std::string what = "cuda-naive " + settings.to_string();
    cuda::require_block_fits(what, reinterpret_cast<const void*>(accelerate<Gravity<float>>), block_);
    cuda::require_block_fits(what, reinterpret_cast<const void*>(accelerate<AttractRepel<float>>), block_);
  }

  void evaluate(const ForceArgs& args) override {
    visit_pair_law<float>(args.law, [&](auto law) {
      accelerate<<<cuda::ceil_div(args.count, block_), block_, 0, args.stream>>>(args.bodies, args.count, law,
                                                                                 args.epilogue);
      ORRERY_CUDA_CHECK_LAUNCH(accelerate);
    });
  }

 private:
  int block_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_naive, .id = "cuda-naive", .title = "CUDA naive",
    .notes = "One thread a body reads every body from global memory; the caches do the sharing.",
    .source = "Brute Force N-Body, v1 (row 2); CUDA Handbook 14.2 (row 8)",
    .lesson =
        "All threads read the same body at the same time, so the caches serve what looks like far too much traffic. "
        "Latency is what remains: with one load a pair in the way, the arithmetic units wait.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<Naive>(settings);
    });

}  // namespace orrery
