#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/instances.h"
#include "compute/kernels/parts/layout.h"
#include "compute/kernels/parts/stored_epilogue.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/parts/unrolled.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_body_a_thread),
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
  epilogue.finish(i, me.w, values(sum));
}

class Naive final : public BlockKernel<BodyArrays, int, PairConstants, Epilogue> {
 public:
  Naive(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-naive", device, settings, {}, instances(settings)},
        stores_first_{stores_first(settings)},
        bodies_{device, layout_values.find(settings.text("layout"))} {}

  void prepare(int count) override {
    bodies_.prepare(count);
    if (stores_first_) stored_epilogue_.prepare(count);
  }

  void evaluate(const ForceArgs& args) override {
    const Epilogue epilogue = stores_first_ ? stored_epilogue_.storing(args) : args.epilogue;
    launch(args, bodies_.arranged(args), args.count, PairConstants{args.law}, epilogue);
    if (stores_first_) stored_epilogue_.finish(args);
  }

 private:
  static std::function<Instance(LawId)> instances(const Settings& settings) {
    return instances_by_arithmetic(
        settings, [unroll = settings.integer("unroll"), layout = layout_values.find(settings.text("layout"))](
                      auto law, auto number) {
          return unroll_values.dispatch(unroll, [&](auto chosen_unroll) {
            return layout_values.dispatch(layout, [&](auto chosen_layout) -> Instance {
              return accelerate<decltype(law)::value, decltype(number), decltype(chosen_unroll)::value,
                                decltype(chosen_layout)::value>;
            });
          });
        });
  }

  bool stores_first_;
  BodyLayout bodies_;
  StoredEpilogue stored_epilogue_{device()};
};

}  // namespace

ORRERY_KERNEL(
    cuda_naive, .id = "cuda-naive", .title = "CUDA naive",
    .notes =
        "One thread a body reads every body from global memory; the caches do the sharing. The Handbook's loop over "
        "several bodies a thread (grid stride) is left out, since the grid covers every body.",
    .source =
        "Brute Force N-Body, v1 (row 2); CUDA Handbook 14.2 (row 8); UTH homework: layouts, unrolling, arithmetic "
        "(rows 15, 17, 20)",
    .lesson =
        "All threads read the same body at the same time, so the caches serve what looks like far too much traffic. "
        "Latency is what remains: with one load a pair in the way, the arithmetic units wait.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<Naive>);

}  // namespace orrery
