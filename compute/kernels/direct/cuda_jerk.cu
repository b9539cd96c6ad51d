#include <algorithm>

#include "compute/cuda/arrays.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/device_float.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Values<64, 128, 256> jerk_block_values;
constexpr Tunable jerk_tunables[] = {
    {.name = "block", .notes = one_tile_per_block, .values = jerk_block_values.names(), .initial = "128"},
    bodies_per_thread_tunable("2"),
    jerk_precision_tunable,
};
static_assert(jerk_block_values.all[0] % jerk_sum_length == 0, "a tile is whole sums");
constexpr int max_jerk_split = 512;  // maximum split of the sources, for few targets
/// Maximum number of bodies for which the number of targets may be known on the device only. With more bodies, the
/// host's wait for that number is short compared with the evaluation.
constexpr int most_counted_on_device = 1 << 17;
constexpr int counted_blocks = 4;  // blocks per multiprocessor, if only the device knows the number of targets
constexpr int pass_block = 128;    // threads per block of the passes over bodies

/// A body in a shared-memory tile. Reading it takes three (mixed) or four (fp64) 16-byte loads.
template <JerkPrecision precision>
struct alignas(16) TileBody {
  JerkBody<precision> body;
};

/// Destinations of the sums. Without a split, sums go to `pulls`, indexed by body. With a split, they go to `partials`:
/// one row per part of the sources, indexed by the place among the targets.
struct PullSums {
  Pull* pulls;
  Pull* partials;
};

/// Number of targets, and number of parts into which their sources are split.
struct JerkWork {
  int targets;           ///< upper bound for the number, known to the host
  const int* d_targets;  ///< exact number, in device memory; null: `targets` is exact
  int splits;            ///< 0: the device chooses it from the number of blocks

  __device__ __forceinline__ int target_count() const { return d_targets ? *d_targets : targets; }
  /// Returns the number of splits. The targets fill `rows` blocks, the sources `tiles` tiles, the grid `blocks` blocks.
  __device__ __forceinline__ int splits_for(int rows, int blocks, int tiles) const {
    return splits > 0 ? splits : max(min(min(blocks / max(rows, 1), tiles), max_jerk_split), 1);
  }
};

/// Running sum of one target. In mixed precision, flush() adds the float sum to a double sum after every
/// jerk_sum_length pairs. In fp64, the only sum is in double.
template <JerkPrecision precision>
struct RunningSum {
  PullOf<float> sum;
  Pull total;
  __device__ __forceinline__ PullOf<float>& pairs() { return sum; }
  __device__ __forceinline__ void flush() {
    sum.add_to(total);
    sum = {};
  }
  __device__ __forceinline__ Pull result() const { return total; }
};
template <>
struct RunningSum<JerkPrecision::fp64> {
  PullOf<double> sum;
  __device__ __forceinline__ PullOf<double>& pairs() { return sum; }
  __device__ __forceinline__ void flush() {}
  __device__ __forceinline__ Pull result() const { return {sum.acceleration, sum.jerk}; }
};

/// Sums a row of targets, `bodies_per_thread * blockDim.x` of them, over part `split` of the source tiles. All threads
/// of a block must call this.
template <LawId law, JerkPrecision precision, int bodies_per_thread>
__device__ void add_jerks_of(int row, int split, int splits, const PreciseBody* __restrict__ bodies, int count,
                             Targets targets, int target_count, Law constants, PullSums out) {
  using Body = JerkBody<precision>;
  using Real = typename Body::Real;
  extern __shared__ __align__(16) unsigned char tile_memory[];
  auto* const tile = reinterpret_cast<TileBody<precision>*>(tile_memory);
  const auto pair = pair_law<law, Real>(PairConstantsOf<Real>{constants});
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int first = row * width * bodies_per_thread + lane;

  Body me[bodies_per_thread];
  RunningSum<precision> sums[bodies_per_thread] = {};
#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int place = first + k * width;  // no early return: all threads must reach the barriers
    me[k] = Body::of(place < target_count ? bodies[targets.body(place)] : PreciseBody{});
  }

  const int tiles = (count + width - 1) / width;
  const int begin = static_cast<int>(static_cast<long long>(tiles) * split / splits);
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);
  for (int t = begin; t < end; ++t) {
    const int j = t * width + lane;
    tile[lane].body = Body::of(j < count ? bodies[j] : PreciseBody{});  // padding: zero mass pulls nothing
    __syncthreads();
    for (int part = 0; part < width; part += jerk_sum_length) {
#pragma unroll 4
      for (int next = 0; next < jerk_sum_length; ++next) {
        const Body source = tile[part + next].body;
#pragma unroll
        for (int k = 0; k < bodies_per_thread; ++k) add_pull_and_jerk(sums[k].pairs(), pair, me[k], source);
      }
#pragma unroll
      for (int k = 0; k < bodies_per_thread; ++k) sums[k].flush();
    }
    __syncthreads();  // the tile is refilled only after all threads have read it
  }

#pragma unroll
  for (int k = 0; k < bodies_per_thread; ++k) {
    const int place = first + k * width;
    if (place >= target_count) continue;
    if (splits == 1) {
      out.pulls[targets.body(place)] = sums[k].result();
    } else {
      out.partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(target_count) + place] = sums[k].result();
    }
  }
}

template <LawId law, JerkPrecision precision, int bodies_per_thread>
__global__ void add_jerks(const PreciseBody* __restrict__ bodies, int count, Targets targets, JerkWork work,
                          Law constants, PullSums out) {
  cuda::wait_for_kernel_before();
  const int width = static_cast<int>(blockDim.x), blocks = static_cast<int>(gridDim.x);
  const int target_count = work.target_count();
  const int rows = (target_count + width * bodies_per_thread - 1) / (width * bodies_per_thread);
  const int splits = work.splits_for(rows, blocks, (count + width - 1) / width);
  for (int unit = static_cast<int>(blockIdx.x); unit < rows * splits; unit += blocks) {
    add_jerks_of<law, precision, bodies_per_thread>(unit % rows, unit / rows, splits, bodies, count, targets,
                                                    target_count, constants, out);
  }
}

/// Adds up the partial sums of one target, by one warp and always in the same order.
__device__ void add_partials_of(int place, int lane, int splits, Targets targets, int target_count, PullSums sums) {
  constexpr int lanes = 32;
  Pull total;
  for (int split = lane; split < splits; split += lanes) {
    const Pull part = sums.partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(target_count) + place];
    PullOf<double>{part.acceleration, part.jerk}.add_to(total);
  }
  for (Vec3d* sum : {&total.acceleration, &total.jerk}) {
    sum->x = cuda::sum_over(cuda::Warp{}, sum->x);
    sum->y = cuda::sum_over(cuda::Warp{}, sum->y);
    sum->z = cuda::sum_over(cuda::Warp{}, sum->z);
  }
  if (lane == 0) sums.pulls[targets.body(place)] = total;
}

/// Adds up the partial sums that add_jerks() stored with `blocks` blocks of `width` threads. If the device chose the
/// split, add_jerks() must have one body per thread.
__global__ void add_partial_pulls(Targets targets, JerkWork work, int blocks, int width, int tiles, PullSums sums) {
  constexpr int lanes = 32;
  cuda::wait_for_kernel_before();
  const int target_count = work.target_count(),
            splits = work.splits_for((target_count + width - 1) / width, blocks, tiles);
  if (splits == 1) return;
  const int warp = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / lanes;
  const int warps = static_cast<int>(gridDim.x * blockDim.x) / lanes;
  for (int place = warp; place < target_count; place += warps) {
    add_partials_of(place, static_cast<int>(threadIdx.x) % lanes, splits, targets, target_count, sums);
  }
}

__global__ void widen_bodies(const Vec4* __restrict__ bodies, int count, PreciseBody* __restrict__ wide) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) wide[i] = at_rest(bodies[i]);
}

__global__ void finish_accelerations(const Pull* __restrict__ pulls, const Vec4* __restrict__ bodies, Targets targets,
                                     int target_count, Epilogue epilogue) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= target_count) return;
  const int i = targets.body(place);
  const Vec3d a = pulls[i].acceleration;
  epilogue.finish(i, bodies[i].w, rounded(a));
}

using JerkBlockKernel = BlockKernel<const PreciseBody*, int, Targets, JerkWork, Law, PullSums>;

class CudaJerk final : public JerkBlockKernel, public JerkFacet {
 public:
  CudaJerk(const Settings& settings, const cuda::Device& device)
      : CudaJerk{settings, device, jerk_precision_values.find(settings.text("precision")),
                 settings.integer("bodies-per-thread")} {}

  JerkFacet* jerks() override { return this; }

  void evaluate_jerks(const JerkArgs& args) override {
    const int targets = args.target_count(), tiles = cuda::ceil_div(args.count, block());
    const bool counted = args.d_target_count != nullptr;
    const int bodies = counted ? 1 : bodies_for(targets), split = counted ? 0 : split_for(targets, args.count);
    const int blocks = counted ? counted_blocks * device().multiprocessors() : row_length(targets) * split;
    const std::size_t sums_of_parts = counted     ? static_cast<std::size_t>(blocks) * static_cast<std::size_t>(block())
                                      : split > 1 ? static_cast<std::size_t>(split) * static_cast<std::size_t>(targets)
                                                  : 0;
    take_scratch(device(), partials_, sums_of_parts, "cuda-jerk: the partial sums", "fewer bodies");
    const PullSums sums{args.pulls, partials_.data()};
    const JerkWork work{targets, args.d_target_count, split};
    cuda::launch_dependent(device(), instance(args.law.id, precision_, bodies), blocks, block(),
                           tile_bytes(precision_) * static_cast<std::size_t>(block()), args.stream, args.bodies,
                           args.count, args.targets, work, args.law, sums);
    if (split == 1) return;
    const int warps = counted ? blocks : targets;
    cuda::launch_dependent(device(), add_partial_pulls, cuda::ceil_div(warps, pass_block / 32), pass_block, 0,
                           args.stream, args.targets, work, blocks, block(), tiles, sums);
  }
  bool counts_targets_on_device(int count) const override { return count <= most_counted_on_device; }

  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return "split " + std::to_string(split_for(count, count));
  }
  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    return {.function = cuda::kernel_handle(instance_for(law.id, count)),
            .block = block(),
            .blocks = row_length(count) * split_for(count, count),
            .shared_per_thread = tile_bytes(precision_)};
  }

  void prepare(int count) override {
    const auto size = static_cast<std::size_t>(count);
    take_scratch(device(), wide_, size, "cuda-jerk: the bodies in double", "fewer bodies");
    take_scratch(device(), pulls_, size, "cuda-jerk: accelerations and jerks", "fewer bodies");
  }

  /// Evaluates accelerations only: treats all bodies as at rest.
  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    widen_bodies<<<cuda::ceil_div(args.count, pass_block), pass_block, 0, args.stream>>>(args.bodies, args.count,
                                                                                         wide_.data());
    ORRERY_CUDA_CHECK_LAUNCH(widen_bodies);
    evaluate_jerks({.bodies = wide_.data(),
                    .count = args.count,
                    .targets = args.targets,
                    .law = args.law,
                    .pulls = pulls_.data(),
                    .stream = args.stream});
    const int targets = args.target_count();
    finish_accelerations<<<cuda::ceil_div(targets, pass_block), pass_block, 0, args.stream>>>(
        pulls_.data(), args.bodies, args.targets, targets, args.epilogue);
    ORRERY_CUDA_CHECK_LAUNCH(finish_accelerations);
  }

 private:
  CudaJerk(const Settings& settings, const cuda::Device& device, JerkPrecision precision, int bodies_per_thread)
      : JerkBlockKernel{"cuda-jerk",
                        device,
                        settings,
                        {.bodies = bodies_per_thread, .shared_bytes = tile_bytes(precision)},
                        [=](LawId law) { return instance(law, precision, bodies_per_thread); }},
        precision_{precision},
        bodies_per_thread_{bodies_per_thread} {}

  static std::size_t tile_bytes(JerkPrecision precision) {
    return precision == JerkPrecision::mixed ? sizeof(TileBody<JerkPrecision::mixed>)
                                             : sizeof(TileBody<JerkPrecision::fp64>);
  }
  static Instance instance(LawId law, JerkPrecision precision, int bodies_per_thread) {
    return law_values.dispatch(law, [&](auto chosen_law) {
      return jerk_precision_values.dispatch(precision, [&](auto chosen_precision) {
        return bodies_per_thread_values.dispatch(bodies_per_thread, [&](auto bodies) -> Instance {
          return add_jerks<decltype(chosen_law)::value, decltype(chosen_precision)::value, decltype(bodies)::value>;
        });
      });
    });
  }
  /// Returns the number of bodies per thread: 1 with few targets, because most threads would lack a second one.
  int bodies_for(int targets) const {
    return targets <= block() * device().multiprocessors() / 8 ? 1 : bodies_per_thread_;
  }
  Instance instance_for(LawId law, int targets) const { return instance(law, precision_, bodies_for(targets)); }
  /// Returns the number of blocks that hold the targets, a row. The split_for() rows of the grid share the sources.
  int row_length(int targets) const { return cuda::ceil_div(targets, block() * bodies_for(targets)); }
  int split_for(int targets, int count) const {
    const int most = std::min(max_jerk_split, cuda::ceil_div(count, block()));
    return fastest_split(targets, count, block(), bodies_for(targets), device().multiprocessors(), most);
  }

  JerkPrecision precision_;
  int bodies_per_thread_;
  cuda::DeviceArray<Pull> partials_, pulls_;
  cuda::DeviceArray<PreciseBody> wide_;
};

}  // namespace

ORRERY_KERNEL(
    cuda_jerk, .id = "cuda-jerk", .title = "CUDA jerk",
    .notes =
        "Accelerations and their derivatives in time, as the integrators hermite4 and hermite4-blocks need them, by "
        "tiles in shared memory.",
    .source = "Makino & Aarseth 1992; differences of positions by two floats each",
    .lesson =
        "A jerk costs about as much as an acceleration and comes from the same pair. Positions as two floats keep the "
        "digits of close pairs for six more additions per pair; everything in double costs twice the time.",
    .backend = Backend::cuda, .tunables = jerk_tunables, .tolerance = {.median = 1e-6, .max = 3e-4},
    .takes_targets = true, .gives_jerks = true, .candidates = jerk_candidates, .create = create_kernel<CudaJerk>);

}  // namespace orrery
