#include <algorithm>
#include <map>
#include <mutex>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable("Threads in a block.", "128"),
    bodies_per_thread_tunable("1"),
};

/// Unroll factor of the inner loop, in bodies.
constexpr int unroll = 8;

/// Number of bodies that fill the constant memory, 64 KiB.
constexpr int capacity = 4096;
__constant__ Vec4 chunk[capacity];

/// Exclusive use of `chunk`, of which a device has only one, by evaluations in several streams. An evaluation holds a
/// turn while it enqueues its work. On the GPU, this work starts after the previous evaluation has finished.
class Turn {
 public:
  Turn(const cuda::Device& device, cudaStream_t stream) : last_use_{last_use(device)}, stream_{stream} {
    ORRERY_CUDA_CHECK(cudaStreamWaitEvent(stream, last_use_.get()));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { ORRERY_CUDA_WARN(cudaEventRecord(last_use_.get(), stream_)); }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  /// Returns the event that is recorded after each use of `chunk` on this device. Call with the mutex locked.
  static const cuda::Event& last_use(const cuda::Device& device) {
    static std::map<int, cuda::Event> events;  // by the ordinal of the device
    return events.try_emplace(device.ordinal(), device).first->second;
  }

  std::lock_guard<std::mutex> lock_{mutex()};
  const cuda::Event& last_use_;
  cudaStream_t stream_;
};

/// A round of an evaluation: the launch that sums over the bodies in `chunk`.
struct Round {
  int size;          ///< number of bodies in `chunk`
  bool first, last;  ///< the first round starts the sums at zero, the last passes them to the epilogue
};

/// Adds the pull of the bodies in `chunk` to the sum of every body. `sums` keeps the sums between rounds, one per body.
/// It may be null if there is only one round.
template <LawId law, int bodies_per_thread>
__global__ void accelerate(const Vec4* __restrict__ bodies, int count, Round round, PairConstants constants,
                           Vec4* __restrict__ sums, Epilogue epilogue) {
  const int width = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(blockIdx.x) * width * bodies_per_thread + static_cast<int>(threadIdx.x);
  const auto pair = pair_law<law, float>(constants);

  Vec4 mine[bodies_per_thread];
  Vec3 acceleration[bodies_per_thread];
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    if (i >= count) continue;
    mine[k] = bodies[i];
    if (!round.first) acceleration[k] = {sums[i].x, sums[i].y, sums[i].z};
  }

  unrolled_for<unroll>(round.size, [&](int j) {
    const Vec4 body = chunk[j];  // all threads read one address: a broadcast
#pragma unroll
    for (int k = 0; k < bodies_per_thread; ++k) {
      add_pull(acceleration[k], pair, mine[k].x, mine[k].y, mine[k].z, body);
    }
  });

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int i = first + k * width;
    if (i >= count) continue;
    const Vec3 a = acceleration[k];
    if (round.last) {
      epilogue.finish(i, mine[k].w, a);
    } else {
      sums[i] = {a.x, a.y, a.z, 0};
    }
  }
}

class Constant final : public BlockKernel<const Vec4*, int, Round, PairConstants, Vec4*, Epilogue> {
 public:
  Constant(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-constant",
                    device,
                    settings,
                    {.bodies = settings.integer("bodies-per-thread")},
                    dispatch_by_bodies(settings, [](auto law, auto bodies) -> Instance {
                      return accelerate<decltype(law)::value, decltype(bodies)::value>;
                    })} {}

  void prepare(int count) override {
    if (count <= capacity) return;
    take_scratch(device(), sums_, static_cast<std::size_t>(count), "cuda-constant: the sums between rounds",
                 "another kernel");
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const Turn turn{device(), args.stream};
    for (int begin = 0, size = 0; begin < args.count; begin += size) {
      size = std::min(capacity, args.count - begin);
      ORRERY_CUDA_CHECK(cudaMemcpyToSymbolAsync(chunk, args.bodies + begin,
                                                static_cast<std::size_t>(size) * sizeof(Vec4), 0,
                                                cudaMemcpyDeviceToDevice, args.stream));
      const Round round{.size = size, .first = begin == 0, .last = size == args.count - begin};
      launch(args, args.bodies, args.count, round, PairConstants{args.law}, sums_.data(), args.epilogue);
    }
  }

 private:
  cuda::DeviceArray<Vec4> sums_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_constant, .id = "cuda-constant", .title = "CUDA constant memory",
    .notes = "Bodies go through the 64 KiB of constant memory in rounds, and all threads read the same one at a time.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14, constant memory",
    .lesson =
        "Constant memory serves one address to a whole warp in one read, which is just how a direct sum reads its "
        "bodies. "
        "It holds 4096 of them, so larger systems pay a copy and a launch for every 4096 more.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<Constant>);

}  // namespace orrery
