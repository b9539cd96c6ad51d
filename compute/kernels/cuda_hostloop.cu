#include <string>

#include "compute/cuda/host_array.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/scratch.h"
#include "compute/kernels/tunables.h"

namespace orrery {
namespace {

constexpr const char* off_on[] = {"off", "on"};
constexpr Tunable tunables[] = {
    {.name = "block",
     .notes = "Threads in a block, one body each; the source has 1024.",
     .values = block_values,
     .initial = "256"},
    {.name = "pinned",
     .notes = "Host memory of the copies: page-locked, which the GPU reads and writes by itself, or not (row 19).",
     .values = off_on,
     .initial = "off"},
};

/// The source's body: 24 bytes, no mass.
struct SixFloats {
  float x, y, z, vx, vy, vz;
};

/// Kicks the velocities in `bodies` unless kick_dt is 0, and stores the accelerations unless that pointer is null.
/// Masses, which the source does not have, come from `with_mass`.
template <class PairLaw>
__global__ void accelerate(SixFloats* bodies, const Vec4* __restrict__ with_mass, int count, PairLaw law,
                           Vec4* __restrict__ accelerations, float kick_dt, float drag) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // no barrier follows
  const SixFloats me = bodies[i];
  Vec3 acceleration;
  for (int j = 0; j < count; ++j) {
    add_pull(acceleration, law, me.x, me.y, me.z, Vec4{bodies[j].x, bodies[j].y, bodies[j].z, with_mass[j].w});
  }
  if (accelerations) accelerations[i] = {acceleration.x, acceleration.y, acceleration.z, 0};
  if (kick_dt == 0) return;
  const Vec4 v = Epilogue::kicked({me.vx, me.vy, me.vz, 0}, acceleration, with_mass[i].w, drag, kick_dt);
  bodies[i].vx = v.x;
  bodies[i].vy = v.y;
  bodies[i].vz = v.z;
}

class HostLoop final : public ForceKernel {
 public:
  explicit HostLoop(const Settings& settings)
      : block_{settings.integer("block")}, pinned_{settings.text("pinned") == "on"} {
    const std::string what = "cuda-hostloop " + settings.to_string();
    for (const LawInfo& law : laws()) cuda::require_block_fits(what, main_launch({.id = law.law}, 1).function, block_);
  }

  void prepare(int count) override {
    const auto size = static_cast<std::size_t>(count);
    take_scratch(d_bodies_, size, "cuda-hostloop: its array of six-float bodies", "another kernel");
    take_scratch(d_accelerations_, size, "cuda-hostloop: its accelerations", "another kernel");
    if (bodies_.size() >= size) return;
    bodies_ = {size, pinned_};
    first_ = {size, pinned_};
    second_ = {size, pinned_};
  }

  /// Waits for the stream at each copy, as the source's blocking copies do.
  void evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const bool kicks = args.epilogue.velocities != nullptr, stores = args.epilogue.accelerations != nullptr;
    const std::span<SixFloats> bodies = bodies_.first(args.count);
    const std::span<Vec4> positions = first_.first(args.count), velocities = second_.first(args.count);

    fetch(args.bodies, positions, args.stream);
    if (kicks) fetch(args.epilogue.velocities, velocities, args.stream);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Vec4 p = positions[i], v = kicks ? velocities[i] : Vec4{};
      bodies[i] = {p.x, p.y, p.z, v.x, v.y, v.z};
    }
    send(bodies, d_bodies_.data(), args.stream);

    launch(args, stores ? d_accelerations_.data() : nullptr, kicks ? args.epilogue.kick_dt : 0);

    if (kicks) {
      fetch(d_bodies_.data(), bodies, args.stream);
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        velocities[i] = {bodies[i].vx, bodies[i].vy, bodies[i].vz, velocities[i].w};
      }
      send(velocities, args.epilogue.velocities, args.stream);
    }
    if (stores) {
      const std::span<Vec4> accelerations = positions;  // which nobody needs any more
      fetch(d_accelerations_.data(), accelerations, args.stream);
      send(accelerations, args.epilogue.accelerations, args.stream);
    }
  }

  MainLaunch main_launch(const Law& law, int count) const override {
    const void* function = visit_pair_law<float>(
        law, [](auto pair_law) { return reinterpret_cast<const void*>(accelerate<decltype(pair_law)>); });
    return {.function = function, .block = block_, .blocks = cuda::ceil_div(count, block_)};
  }

 private:
  void launch(const ForceArgs& args, Vec4* d_accelerations, float kick_dt) const {
    visit_pair_law<float>(args.law, [&](auto law) {
      accelerate<<<cuda::ceil_div(args.count, block_), block_, 0, args.stream>>>(
          d_bodies_.data(), args.bodies, args.count, law, d_accelerations, kick_dt, args.epilogue.drag);
      ORRERY_CUDA_CHECK_LAUNCH(accelerate);
    });
  }
  template <class T>
  static void fetch(const T* device, std::span<T> host, cudaStream_t stream) {
    cuda::download(device, host, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  template <class T>
  static void send(std::span<T> host, T* device, cudaStream_t stream) {
    cuda::upload<T>(host, device, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  int block_;
  bool pinned_;
  cuda::DeviceArray<SixFloats> d_bodies_;
  cuda::DeviceArray<Vec4> d_accelerations_;
  cuda::HostArray<SixFloats> bodies_;
  cuda::HostArray<Vec4> first_, second_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_hostloop, .id = "cuda-hostloop", .title = "CUDA host loop",
    .notes =
        "Each evaluation brings positions and velocities to the host, sends them back as an array of six-float "
        "structures, kicks those velocities on the GPU and takes the results home through the host; every copy "
        "is waited for.",
    .source = "UTH homework 5.1, first GPU version (row 14), and 5.7, pinned memory (row 19)",
    .lesson =
        "Bodies that live on the host cross the bus twice a step, and the GPU idles meanwhile; the sum grows with the "
        "square of their number, so it hides the bus only when they are many. Page-locked memory makes each copy "
        "faster, and no copy at all is faster still.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = [](const Settings& settings) -> std::unique_ptr<ForceKernel> {
      return std::make_unique<HostLoop>(settings);
    });

}  // namespace orrery
