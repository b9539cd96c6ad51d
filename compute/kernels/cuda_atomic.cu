#include "compute/cuda/launch.h"
#include "compute/kernels/instances.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/partial_sums.h"
#include "compute/kernels/scratch.h"
#include "compute/kernels/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    {.name = "block", .notes = "Threads in a block, one body each.", .values = block_values, .initial = "256"},
};

/// Evaluates each pair once, for the body with the higher index, and adds its pull to `sums` of both bodies: one at a
/// time to the partner's, at the end to the own. `sums` starts as zeros.
template <LawId law>
__global__ void accumulate(const Vec4* __restrict__ bodies, int count, PairConstants constants, Vec4* sums) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // no barrier follows
  const auto pair = pair_law<law, float>(constants);
  const Vec4 me = bodies[i];
  Vec3 acceleration;
  for (int j = 0; j < i; ++j) {
    const Vec4 body = bodies[j];
    const float dx = body.x - me.x, dy = body.y - me.y, dz = body.z - me.z;
    const float s = pair.factor(dx, dy, dz, 1.0f);  // over the partner's mass, which is not the same for both
    const float to_me = s * body.w, to_partner = -s * me.w;
    acceleration.x += to_me * dx;
    acceleration.y += to_me * dy;
    acceleration.z += to_me * dz;
    float* partner = &sums[j].x;
    atomicAdd(partner + 0, to_partner * dx);
    atomicAdd(partner + 1, to_partner * dy);
    atomicAdd(partner + 2, to_partner * dz);
  }
  float* own = &sums[i].x;  // other threads add to it at the same time
  atomicAdd(own + 0, acceleration.x);
  atomicAdd(own + 1, acceleration.y);
  atomicAdd(own + 2, acceleration.z);
}
using Instance = void (*)(const Vec4*, int, PairConstants, Vec4*);

Instance instance(LawId law) {
  return choose<LawId::gravity, LawId::attract_repel>(
      law, [](auto chosen) -> Instance { return accumulate<decltype(chosen)::value>; });
}

class Atomic final : public ForceKernel {
 public:
  explicit Atomic(const Settings& settings) : block_{settings.integer("block")} {
    for (const LawInfo& law : laws()) {
      cuda::require_block_fits("cuda-atomic " + settings.to_string(), function(law.law), block_);
    }
  }

  void prepare(int count) override {
    take_scratch(sums_, static_cast<std::size_t>(count), "cuda-atomic: the sums", "another kernel");
  }

  void evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const std::size_t bytes = static_cast<std::size_t>(args.count) * sizeof(Vec4);
    ORRERY_CUDA_CHECK(cudaMemsetAsync(sums_.data(), 0, bytes, args.stream));
    instance(args.law.id)<<<cuda::ceil_div(args.count, block_), block_, 0, args.stream>>>(
        args.bodies, args.count, PairConstants{args.law}, sums_.data());
    ORRERY_CUDA_CHECK_LAUNCH(accumulate);
    finish_partial_sums(sums_.data(), 1, args.bodies, args.count, args.epilogue, args.stream);
  }

  MainLaunch main_launch(const Law& law, int count) const override {
    return {.function = function(law.id), .block = block_, .blocks = cuda::ceil_div(count, block_)};
  }

 private:
  static const void* function(LawId law) { return reinterpret_cast<const void*>(instance(law)); }

  int block_;
  cuda::DeviceArray<Vec4> sums_;
};

}  // namespace

// The tolerance leaves room for the order of the additions, which is another one in each run.
ORRERY_KERNEL(
    cuda_atomic, .id = "cuda-atomic", .title = "CUDA atomic",
    .notes =
        "Evaluates each pair once and adds the opposite pull to the partner's sum by three atomic additions; the "
        "source "
        "adds the same number to both, which is right for equal masses only.",
    .source = "CUDA Handbook blog, FP atomics v. recomputation (row 22)",
    .lesson =
        "Half the arithmetic can cost more time: three atomic additions a pair wait for each other at a sum that all "
        "threads want at once. Their order changes from run to run, so the last digits do, too.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-5, .max = 1e-2}, .repeatable = false,
    .pairs_per_interaction = 0.5, .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<Atomic>(settings);
    });

}  // namespace orrery
