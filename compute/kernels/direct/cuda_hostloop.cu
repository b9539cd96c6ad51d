#include "compute/cuda/arrays.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable("Threads in a block, one body each; the source has 1024."),
    {.name = "pinned",
     .notes = "Host memory of the copies: page-locked, which the GPU reads and writes by itself, or not.",
     .values = switch_values.names(),
     .initial = "off"},
    rsqrt_tunable,
    ftz_tunable,
};

/// A body of the original program: 24 bytes, without a mass.
struct SixFloats {
  float x, y, z, vx, vy, vz;
};

/// Packs the bodies into six floats each. If `velocities` is null, the velocities are zero.
__global__ void pack(const Vec4* __restrict__ bodies, const Vec4* __restrict__ velocities, int count,
                     SixFloats* __restrict__ packed) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 p = bodies[i], v = velocities ? velocities[i] : Vec4{};
  packed[i] = {p.x, p.y, p.z, v.x, v.y, v.z};
}

/// Sums the accelerations. Masses come from `with_mass`, because the original's bodies have none.
template <LawId law, class Real>
__global__ void accelerate(const SixFloats* __restrict__ bodies, const Vec4* __restrict__ with_mass, int count,
                           PairConstants constants, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // safe, since no barrier follows
  const auto pair = pair_law<law, Real>(constants);
  const SixFloats me = bodies[i];
  Vec3Of<Real> sum;
  for (int j = 0; j < count; ++j) {
    add_pull(sum, pair, Real{me.x}, Real{me.y}, Real{me.z},
             Vec4{bodies[j].x, bodies[j].y, bodies[j].z, with_mass[j].w});
  }
  epilogue.finish(i, with_mass[i].w, values(sum));
}

class HostLoop final : public BlockKernel<const SixFloats*, const Vec4*, int, PairConstants, Epilogue> {
 public:
  HostLoop(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-hostloop",
                    device,
                    settings,
                    {},
                    dispatch_by_arithmetic(settings,
                                           [](auto law, auto real) -> Instance {
                                             return accelerate<decltype(law)::value, decltype(real)>;
                                           })},
        pinned_{switch_values.find(settings.text("pinned"))} {}

  void prepare(int count) override {
    const auto size = static_cast<std::size_t>(count);
    take_scratch(device(), d_bodies_, size, "cuda-hostloop: its array of six-float bodies", "another kernel");
    if (host_bodies_.size() < size) host_bodies_ = {device(), size, pinned_};
  }

  /// Blocks until each copy has finished, as the original does with its synchronous copies.
  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    pack<<<cuda::ceil_div(args.count, block()), block(), 0, args.stream>>>(args.bodies, args.epilogue.velocities,
                                                                           args.count, d_bodies_.data());
    ORRERY_CUDA_CHECK_LAUNCH(pack);
    const std::span<SixFloats> host = host_bodies_.first(args.count);
    cuda::download(d_bodies_.data(), host, args.stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
    cuda::upload<SixFloats>(host, d_bodies_.data(), args.stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(args.stream));
    launch(args, d_bodies_.data(), args.bodies, args.count, PairConstants{args.law}, args.epilogue);
  }

 private:
  bool pinned_;
  cuda::DeviceArray<SixFloats> d_bodies_;
  cuda::HostArray<SixFloats> host_bodies_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_hostloop, .id = "cuda-hostloop", .title = "CUDA host loop",
    .notes =
        "Before each evaluation all bodies, 24 bytes each of position and velocity, go to the host and come back, and "
        "each copy is waited for: one crossing each way per step, as in the source. The source fetches what the GPU "
        "has kicked, moves it on the host and sends it; here the host moves nothing, the drift and the masses, which "
        "the source lacks, stay on the GPU, and a pass over the bodies packs the 24 bytes.",
    .source = "Vliora & Liaskonis 2025, section 5.1, first GPU version, and section 5.7, pinned memory",
    .lesson =
        "Bodies that live on the host cross the bus twice per step, and the GPU idles meanwhile; the sum grows with "
        "the "
        "square of their number, so it hides the bus only when they are many. Page-locked memory makes each copy "
        "faster, and no copy at all is faster still.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<HostLoop>);

}  // namespace orrery
