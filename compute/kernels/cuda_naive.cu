#include "compute/cuda/launch.h"
#include "compute/kernels/instances.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/layout.h"
#include "compute/kernels/stored_epilogue.h"
#include "compute/kernels/tunables.h"
#include "compute/kernels/unrolled.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    {.name = "block", .notes = "Threads in a block, one body each.", .values = block_values, .initial = "256"},
    unroll_tunable("16"),
    epilogue_tunable,
    rsqrt_tunable,
    ftz_tunable,
    layout_tunable,
};

template <LawId law, class Real, int unroll, Layout layout>
__global__ void accelerate(BodyArrays bodies, int count, PairConstants constants, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // no barrier follows
  const auto pair = pair_law<law, Real>(constants);
  const Vec4 me = bodies.load<layout>(i);
  Vec3Of<Real> sum;
  unrolled_for<unroll>(count,
                       [&](int j) { add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z}, bodies.load<layout>(j)); });
  epilogue.finish(i, me.w, {sum.x.value(), sum.y.value(), sum.z.value()});
}
using Instance = void (*)(BodyArrays, int, PairConstants, Epilogue);

Instance choose_instance(LawId law, Arithmetic arithmetic, int unroll, Layout layout) {
  return choose_arithmetic(law, arithmetic, [&](auto chosen_law, auto number) {
    return choose_unroll(unroll, [&](auto chosen_unroll) {
      return choose<Layout::float4, Layout::float3, Layout::soa, Layout::aos6>(
          layout, [&](auto chosen_layout) -> Instance {
            return accelerate<decltype(chosen_law)::value, decltype(number), decltype(chosen_unroll)::value,
                              decltype(chosen_layout)::value>;
          });
    });
  });
}

class Naive final : public ForceKernel {
 public:
  explicit Naive(const Settings& settings)
      : block_{settings.integer("block")},
        unroll_{settings.integer("unroll")},
        stores_first_{stores_first(settings)},
        arithmetic_{arithmetic(settings)},
        bodies_{find_layout(settings.text("layout"))} {
    for (const LawInfo& law : laws()) {
      cuda::require_block_fits("cuda-naive " + settings.to_string(), function(law.law), block_);
    }
  }

  void prepare(int count) override {
    bodies_.prepare(count);
    if (stores_first_) stored_epilogue_.prepare(count);
  }

  void evaluate(const ForceArgs& args) override {
    const Epilogue epilogue = stores_first_ ? stored_epilogue_.storing(args) : args.epilogue;
    const BodyArrays bodies = bodies_.arranged(args);
    instance(args.law.id)<<<cuda::ceil_div(args.count, block_), block_, 0, args.stream>>>(
        bodies, args.count, PairConstants{args.law}, epilogue);
    ORRERY_CUDA_CHECK_LAUNCH(accelerate);
    if (stores_first_) stored_epilogue_.finish(args);
  }

  MainLaunch main_launch(const Law& law, int count) const override {
    return {.function = function(law.id), .block = block_, .blocks = cuda::ceil_div(count, block_)};
  }

 private:
  Instance instance(LawId law) const { return choose_instance(law, arithmetic_, unroll_, bodies_.layout()); }
  const void* function(LawId law) const { return reinterpret_cast<const void*>(instance(law)); }

  int block_;
  int unroll_;
  bool stores_first_;
  Arithmetic arithmetic_;
  BodyLayout bodies_;
  StoredEpilogue stored_epilogue_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_naive, .id = "cuda-naive", .title = "CUDA naive",
    .notes = "One thread a body reads every body from global memory; the caches do the sharing.",
    .source =
        "Brute Force N-Body, v1 (row 2); CUDA Handbook 14.2 (row 8); UTH homework: layouts, unrolling, arithmetic "
        "(rows 15, 17, 20)",
    .lesson =
        "All threads read the same body at the same time, so the caches serve what looks like far too much traffic. "
        "Latency is what remains: with one load a pair in the way, the arithmetic units wait.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<Naive>(settings);
    });

}  // namespace orrery
