#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/passes.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_body_per_thread),
    unroll_tunable("16"),
    epilogue_tunable,
    rsqrt_tunable,
    ftz_tunable,
    layout_tunable,
};

// A new kernel can start from here (orrery new-kernel):
/// Adds the pull of all bodies on `me` to `sum`.
template <int unroll, Layout layout, class PairLaw, class Real>
__device__ __forceinline__ void add_all_pulls(Vec3Of<Real>& sum, const PairLaw& pair, const Vec4& me,
                                              const BodyArrays& bodies, int count) {
  unrolled_for<unroll>(count,
                       [&](int j) { add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z}, bodies.load<layout>(j)); });
}
// to here.

template <LawId law, class Real, int unroll, Layout layout>
__global__ void accelerate(BodyArrays bodies, int count, PairConstants constants, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // safe, since no barrier follows
  const auto pair = pair_law<law, Real>(constants);
  const Vec4 me = bodies.load<layout>(i);
  Vec3Of<Real> sum;
  add_all_pulls<unroll, layout>(sum, pair, me, bodies, count);
  epilogue.finish(i, me.w, values(sum));
}

/// Evaluates only the given targets. One value each of `unroll`, `layout` and `epilogue` is enough, because these
/// settings do not change the sums.
template <LawId law, class Real>
__global__ void __launch_bounds__(max_block)
    accelerate_targets(BodyArrays bodies, int count, Targets targets, PairConstants constants, Epilogue epilogue) {
  constexpr Layout layout = Layout::float4;
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= targets.count) return;
  const int i = targets.body(place);
  const auto pair = pair_law<law, Real>(constants);
  const Vec4 me = bodies.load<layout>(i);
  Vec3Of<Real> sum;
  add_all_pulls<16, layout>(sum, pair, me, bodies, count);
  epilogue.finish(i, me.w, values(sum));
}

class Naive final : public BlockKernel<BodyArrays, int, PairConstants, Epilogue> {
 public:
  Naive(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-naive", device, settings, {}, instances(settings)},
        arithmetic_{arithmetic(settings)},
        stores_first_{stores_first(settings)},
        bodies_{device, layout_values.find(settings.text("layout"))} {}

  void prepare(int count) override {
    bodies_.prepare(count);
    if (stores_first_) stored_epilogue_.prepare(count);
  }

  void do_evaluate(const ForceArgs& args) override {
    if (args.targets) return evaluate_targets(args);
    const Epilogue epilogue = stores_first_ ? stored_epilogue_.storing(args) : args.epilogue;
    launch(args, bodies_.arranged(args), args.count, PairConstants{args.law}, epilogue);
    if (stores_first_) stored_epilogue_.finish(args);
  }

 private:
  static std::function<Instance(LawId)> instances(const Settings& settings) {
    return dispatch_by_arithmetic(
        settings, [unroll = settings.integer("unroll"), layout = layout_values.find(settings.text("layout"))](
                      auto law, auto real) {
          return unroll_values.dispatch(unroll, [&](auto chosen_unroll) {
            return layout_values.dispatch(layout, [&](auto chosen_layout) -> Instance {
              return accelerate<decltype(law)::value, decltype(real), decltype(chosen_unroll)::value,
                                decltype(chosen_layout)::value>;
            });
          });
        });
  }

  void evaluate_targets(const ForceArgs& args) const {
    dispatch_arithmetic(args.law.id, arithmetic_, [&](auto law, auto real) {
      accelerate_targets<decltype(law)::value, decltype(real)>
          <<<cuda::ceil_div(args.targets.count, block()), block(), 0, args.stream>>>(
              {.vectors = args.bodies}, args.count, args.targets, PairConstants{args.law}, args.epilogue);
    });
    ORRERY_CUDA_CHECK_LAUNCH(accelerate_targets);
  }

  Arithmetic arithmetic_;
  bool stores_first_;
  BodyLayout bodies_;
  StoredEpilogue stored_epilogue_{device()};
};

}  // namespace

ORRERY_KERNEL(
    cuda_naive, .id = "cuda-naive", .title = "CUDA naive",
    .notes =
        "One thread per body reads every body from global memory; the caches do the sharing. The Handbook's loop over "
        "several bodies per thread (grid stride) is left out, since the grid covers every body.",
    .source =
        "Brute Force N-Body Optimization, v1, blocks of 1,024 threads; N. Wilt, The CUDA Handbook (2013), 14.2; Vliora "
        "& Liaskonis 2025: layouts, unrolling, arithmetic",
    .lesson =
        "All threads read the same body at the same time, so the caches serve what looks like far too much traffic. "
        "Latency is what remains: with one load per pair in the way, the arithmetic units wait.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3}, .takes_targets = true,
    .create = create_kernel<Naive>);

}  // namespace orrery
