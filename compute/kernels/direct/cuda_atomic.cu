#include "compute/cuda/arrays.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/passes.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_body_per_thread),
    rsqrt_tunable,
    ftz_tunable,
};

/// Evaluates each pair once, in the thread of the body with the higher index. That thread adds each pull to the
/// partner's entry of `sums` immediately, and to its own entry at the end. `sums` must be zeros initially.
template <LawId law, class Real>
__global__ void accumulate(const Vec4* __restrict__ bodies, int count, PairConstants constants, Vec4* sums) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // safe, since no barrier follows
  const auto pair = pair_law<law, Real>(constants);
  const Vec4 me = bodies[i];
  Vec3Of<Real> sum;
  for (int j = 0; j < i; ++j) {
    const Vec4 body = bodies[j];
    const Real dx = Real{body.x} - me.x, dy = Real{body.y} - me.y, dz = Real{body.z} - me.z;
    const Real s = pair.factor(dx, dy, dz, 1.0f);  // per unit mass: the masses differ
    const Real to_me = s * body.w, to_partner = s * -me.w;
    sum.x = multiply_add(to_me, dx, sum.x);
    sum.y = multiply_add(to_me, dy, sum.y);
    sum.z = multiply_add(to_me, dz, sum.z);
    float* partner = &sums[j].x;
    atomicAdd(partner + 0, (to_partner * dx).value());
    atomicAdd(partner + 1, (to_partner * dy).value());
    atomicAdd(partner + 2, (to_partner * dz).value());
  }
  const Vec3 acceleration = values(sum);
  float* own = &sums[i].x;  // other threads add to this entry concurrently
  atomicAdd(own + 0, acceleration.x);
  atomicAdd(own + 1, acceleration.y);
  atomicAdd(own + 2, acceleration.z);
}

class Atomic final : public BlockKernel<const Vec4*, int, PairConstants, Vec4*> {
 public:
  Atomic(const Settings& settings, const cuda::Device& device)
      : BlockKernel{
            "cuda-atomic", device, settings, {}, dispatch_by_arithmetic(settings, [](auto law, auto real) -> Instance {
              return accumulate<decltype(law)::value, decltype(real)>;
            })} {}

  void prepare(int count) override {
    take_scratch(device(), sums_, static_cast<std::size_t>(count), "cuda-atomic: the sums", "another kernel");
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const std::size_t bytes = static_cast<std::size_t>(args.count) * sizeof(Vec4);
    ORRERY_CUDA_CHECK(cudaMemsetAsync(sums_.data(), 0, bytes, args.stream));
    launch(args, args.bodies, args.count, PairConstants{args.law}, sums_.data());
    finish_partial_sums(sums_.data(), 1, args.bodies, args.count, args.epilogue, args.stream);
  }

 private:
  cuda::DeviceArray<Vec4> sums_;
};

}  // namespace

// The order of the additions differs between runs; the tolerance allows for that.
ORRERY_KERNEL(
    cuda_atomic, .id = "cuda-atomic", .title = "CUDA atomic",
    .notes =
        "Evaluates each pair once and adds the opposite pull to the partner's sum by three atomic additions; the "
        "source adds the same number to both, which is right for equal masses only.",
    .source = "N. Wilt, N-Body: FP Atomics v. Recomputation",
    .lesson =
        "Half the arithmetic can cost more time: three atomic additions per pair wait for each other at a sum that all "
        "threads want at once. Their order changes from run to run, so the last digits do, too.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-5, .max = 1e-2}, .repeatable = false,
    .pairs_per_interaction = 0.5, .create = create_kernel<Atomic>);

}  // namespace orrery
