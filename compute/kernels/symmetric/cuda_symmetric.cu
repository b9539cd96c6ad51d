#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/inner_loop.h"
#include "compute/kernels/parts/pair_items.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/symmetric/symmetric_sums.h"

namespace orrery {
namespace {

constexpr Values<32, 64, 128> warp_block_values;
constexpr Values<1, 2, 4, 8, 11, 13> lane_bodies;
constexpr auto lane_bodies_or_auto = lane_bodies.names_after("auto");
constexpr Values<8, 16, 32, 64, 128> item_tiles;
constexpr Tunable tunables[] = {
    {.name = "block",
     .notes = "Threads in a block. Its warps work on their own: it decides only how registers are handed out.",
     .values = warp_block_values.names(),
     .initial = "64"},
    {.name = "bodies-per-lane",
     .notes = "Bodies that each lane of a warp holds in registers; auto: many, as long as every warp gets its share.",
     .values = lane_bodies_or_auto,
     .initial = "auto"},
    {.name = "tiles-per-item",
     .notes = "Tiles of 32 partners that a warp meets before it adds its own sums to memory; short sums round less.",
     .values = item_tiles.names(),
     .initial = "128"},
    {.name = "deterministic",
     .notes =
         "on: sums in fixed point, whose order does not matter, so that every run gives the same bits. Their step is "
         "2^-62 of the greatest sum that the softening allows: keep it above some 1e-4 of the system's size.",
     .values = switch_values.names(),
     .initial = "off"},
};

constexpr const char* candidates[] = {
    "", "bodies-per-lane=2", "bodies-per-lane=4", "bodies-per-lane=8", "bodies-per-lane=11", "bodies-per-lane=13"};

constexpr int tile = PairItems::tile;
constexpr int max_warp_block = warp_block_values.largest;
using cuda::all_lanes;

/// Compile-time parameters of the inner loop for a number of bodies per lane.
struct Shape {
  int unroll;           ///< partners per iteration of the unrolled loop
  int resident_blocks;  ///< minimum per multiprocessor, with max_warp_block threads each; limits the registers
};
constexpr Shape shape_of(int bodies) {
  return {8, bodies <= 2 ? 8 : bodies <= 4 ? 6 : bodies <= 11 ? 4 : 3};
}

/// Range of work units of one launch, see PairItems.
struct PairUnits {
  long long begin, count;
};

/// Returns the clocks of a warp scheduler per pair, estimated from the instructions and register reads of the machine
/// code. The bodies of a lane share the load of a partner and the shuffle of its sum.
constexpr double clocks_per_pair(int bodies) {
  return 20 + 9.0 / bodies;
}

/// Number of a lane's pairs in the software pipeline. A reciprocal square root has a latency of more than 20 clocks,
/// and a multiprocessor holds too few warps to hide it.
constexpr int depth = 3;

/// A pair in the software pipeline. Its force is divided by the square of the greatest mass. If `equal_masses`, all
/// masses count as 1.
template <class PairLaw, bool equal_masses>
class PairInFlight {
 public:
  /// Begins the pair: issues its reciprocal square root.
  __device__ __forceinline__ void begin(const PairLaw& pair, const Vec4& own, const Vec4& partner) {
    dx_ = partner.x - own.x;
    dy_ = partner.y - own.y;
    dz_ = partner.z - own.z;
    partner_mass_ = partner.w;
    inverse_ = pair.inverse_distance(dx_, dy_, dz_);
  }
  /// Ends the pair; `own` must be the same as in begin(). Adds the force to `sum` and the opposite force to `reaction`.
  __device__ __forceinline__ void end(const PairLaw& pair, const Vec4& own, Vec3& sum, Vec3& reaction) const {
    const float f = equal_masses ? pair.factor_at(inverse_, 1.0f) : pair.factor_at(inverse_, own.w, partner_mass_);
    sum.x = multiply_add(f, dx_, sum.x);
    sum.y = multiply_add(f, dy_, sum.y);
    sum.z = multiply_add(f, dz_, sum.z);
    reaction.x = multiply_add(-f, dx_, reaction.x);
    reaction.y = multiply_add(-f, dy_, reaction.y);
    reaction.z = multiply_add(-f, dz_, reaction.z);
  }

 private:
  float dx_, dy_, dz_;
  float partner_mass_;
  float inverse_;  // 1 / softened distance
};

/// Sums each pair once. Lane l holds `bodies_per_lane` bodies and their sums in registers. In round s, it pairs them
/// with body (l + s) mod 32 of a partner tile, which shared memory holds twice, so that no index wraps. The sum of that
/// body moves by one lane per round. After 32 rounds it is back in the lane that loaded the body.
template <LawId law, bool equal_masses, int bodies_per_lane>
__global__ void __launch_bounds__(max_warp_block, shape_of(bodies_per_lane).resident_blocks)
    sum_pairs(const Vec4* __restrict__ bodies, int count, PairItems items, PairUnits own_units, int tiles_per_item,
              PairConstants constants, SymmetricSums sums) {
  extern __shared__ Vec4 tiles[];
  constexpr Shape shape = shape_of(bodies_per_lane);
  constexpr int pairs = shape.unroll * bodies_per_lane;
  const auto pair = pair_law<law, float>(constants);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps_per_block = static_cast<int>(blockDim.x) / 32;
  const int warps = static_cast<int>(gridDim.x) * warps_per_block;
  const int self = static_cast<int>(blockIdx.x) * warps_per_block + warp;
  const int neighbour = (lane + 1) % 32;
  Vec4* const partners = tiles + warp * 2 * tile;

  cuda::wait_for_kernel_before();
  const auto load = [&](int i) {
    // Padding: a massless body, so far away that its pull is zero even if all masses count as 1.
    Vec4 body = i < count ? bodies[i] : Vec4{1e18f, 0, 0, 0};
    body.w *= sums.mass_scale;
    return body;
  };

  long long next = own_units.begin + own_units.count * self / warps;
  const long long end = own_units.begin + own_units.count * (self + 1) / warps;
  while (next < end) {
    const PairItems::Unit unit = items.unit(next);
    const int length =
        static_cast<int>(min(end - next, static_cast<long long>(min(unit.row - unit.offset, tiles_per_item))));
    next += length;

    Vec4 own[bodies_per_lane];
    Vec3 sum[bodies_per_lane];
#pragma unroll
    for (int k = 0; k < bodies_per_lane; ++k) own[k] = load((unit.group * bodies_per_lane + k) * tile + lane);

#pragma unroll 1
    for (int offset = unit.offset; offset < unit.offset + length; ++offset) {
      const int partner_tile = items.partner(unit.group, offset);
      if (partner_tile >= items.tiles) continue;
      const Vec4 staged = rotated(load(partner_tile * tile + lane));
      __syncwarp();  // all lanes must have read `partners` before it is overwritten
      partners[lane] = staged;
      partners[lane + tile] = staged;
      __syncwarp();
      Vec3 reaction;
#pragma unroll 1
      for (int round = 0; round < tile; round += shape.unroll) {
        // Software pipeline over this iteration's pairs: begins a pair, ends the one that began `depth` pairs earlier.
        PairInFlight<std::remove_const_t<decltype(pair)>, equal_masses> pipeline[depth + 1];
        Vec4 partner;
#pragma unroll
        for (int next = 0; next < pairs + depth; ++next) {
          if (next < pairs) {
            const int k = next % bodies_per_lane;
            if (k == 0) partner = rotated_back(partners[lane + round + next / bodies_per_lane]);
            pipeline[next % (depth + 1)].begin(pair, own[k], partner);
          }
          if (const int last = next - depth; last >= 0) {
            const int k = last % bodies_per_lane;
            pipeline[last % (depth + 1)].end(pair, own[k], sum[k], reaction);
            if (k == bodies_per_lane - 1) {
              reaction.x = __shfl_sync(all_lanes, reaction.x, neighbour);
              reaction.y = __shfl_sync(all_lanes, reaction.y, neighbour);
              reaction.z = __shfl_sync(all_lanes, reaction.z, neighbour);
            }
          }
        }
      }
      const bool within_group = offset < bodies_per_lane;  // one-sided: every body of the group is in `own`
      if (!within_group) {
        sums.add(partner_tile * tile + lane, equal_masses ? 1.0f : rotated_back(partners[lane]).w, reaction);
      }
    }
#pragma unroll
    for (int k = 0; k < bodies_per_lane; ++k) {
      const int own_tile = unit.group * bodies_per_lane + k;
      if (own_tile < items.tiles) sums.add(own_tile * tile + lane, equal_masses ? 1.0f : own[k].w, sum[k]);
    }
  }
}

class Symmetric final : public ForceKernel, public PartitionFacet {
 public:
  using Instance = void (*)(const Vec4*, int, PairItems, PairUnits, int, PairConstants, SymmetricSums);

  Symmetric(const Settings& settings, const cuda::Device& device)
      : device_{device},
        block_{settings.integer("block")},
        bodies_per_lane_{settings.integer("bodies-per-lane")},
        tiles_per_item_{settings.integer("tiles-per-item")},
        accumulator_{device, switch_values.find(settings.text("deterministic"))} {}

  void prepare(int count) override { accumulator_.prepare(count); }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    sum_part(args, args.bodies, {});
    accumulator_.finish(args);
  }

  PartitionFacet* partition() override { return this; }
  void prepare_partition(int count, int index, int devices) override {
    prepare(count);
    if (index > 0) return take_copies(count);
    for (int other = 1; other < devices; ++other) (void)accumulator_.place_of_others(count, other);
  }
  Blocks prepare_inputs(const ForceArgs& args, std::span<const Part> /*parts*/) override {
    prepare(args.count);
    return {{const_cast<Vec4*>(args.bodies), static_cast<std::size_t>(args.count) * sizeof(Vec4)}};
  }
  Blocks receive(const ForceArgs& args, std::span<const Part> /*parts*/, std::span<const DeviceBlock> shared) override {
    prepare(args.count);
    take_copies(args.count);
    return {{received_.data(), shared[0].bytes}};
  }
  void evaluate_part(const ForceArgs& args, const Part& part) override {
    sum_part(args, part.index == 0 ? args.bodies : received_.data(), part);
  }
  Blocks results(const ForceArgs& args, const Part& /*part*/) override { return {accumulator_.own_sums(args.count)}; }
  Blocks places(const ForceArgs& args, const Part& part) override {
    return {accumulator_.place_of_others(args.count, part.index)};
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    accumulator_.add_others(args, static_cast<int>(parts.size()) - 1);
    accumulator_.finish(args);
  }

  std::string chosen(int count, const MassRange& masses) const override {
    const int bodies = plan_for(LawId::gravity, count, masses.equal()).bodies;
    return std::to_string(bodies) + (bodies == 1 ? " body per lane" : " bodies per lane");
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    const Plan& plan = plan_for(law.id, count, masses.equal());
    return {.function = cuda::kernel_handle(plan.function),
            .block = block_,
            .blocks = plan.blocks,
            .shared_per_thread = shared_bytes_per_thread};
  }

 private:
  /// Allocates memory for copies of another device's bodies.
  void take_copies(int count) {
    take_scratch(device_, received_, static_cast<std::size_t>(count), "cuda-symmetric: the copied bodies",
                 "fewer bodies");
  }

  static Instance instance(LawId law, bool equal_masses, int bodies) {
    return law_values.dispatch(law, [&](auto chosen_law) {
      return switch_values.dispatch(equal_masses, [&](auto equal) {
        return lane_bodies.dispatch(bodies, [&](auto count) -> Instance {
          return sum_pairs<decltype(chosen_law)::value, decltype(equal)::value, decltype(count)::value>;
        });
      });
    });
  }

  /// Launch parameters for a law and a number of bodies.
  struct Plan {
    LawId law = LawId::gravity;
    int count = 0;
    bool equal_masses = false;
    Instance function = nullptr;
    int bodies = 0;  // bodies per lane
    int blocks = 0;  // at most the number that are resident, so that all warps take equal shares of the units
    double cost = 0;
  };

  /// Enqueues the sums over the pairs of a part.
  void sum_part(const ForceArgs& args, const Vec4* bodies, const Part& part) {
    const SymmetricSums sums = accumulator_.begin(args);
    const Plan& plan = plan_for(args.law.id, args.count, args.masses.equal());
    const PairItems items{args.count, plan.bodies};
    const long long first = part.first(items.units()), units = part.last(items.units()) - first;
    cuda::launch_dependent(device_, plan.function, plan.blocks, block_, shared_bytes(), args.stream, bodies, args.count,
                           items, PairUnits{first, units}, tiles_per_item_, PairConstants{args.law}, sums);
  }

  std::size_t shared_bytes() const { return shared_bytes_per_thread * static_cast<std::size_t>(block_); }

  Plan plan_with(int bodies, LawId law, int count, bool equal_masses) const {
    Plan plan{.law = law,
              .count = count,
              .equal_masses = equal_masses,
              .function = instance(law, equal_masses, bodies),
              .bodies = bodies};
    const int resident = cuda::resident_blocks(device_, cuda::kernel_handle(plan.function), block_, shared_bytes());
    const int warps = block_ / 32, multiprocessors = device_.multiprocessors();
    const long long units = PairItems{count, bodies}.units();
    plan.blocks = static_cast<int>(
        std::min<long long>((units + warps - 1) / warps, static_cast<long long>(resident) * multiprocessors));
    const double units_per_warp = std::ceil(static_cast<double>(units) / (plan.blocks * warps));
    const double warps_on_busiest = std::ceil(static_cast<double>(plan.blocks) / multiprocessors) * warps;
    const double idle = std::max(0.0, (enough_warps - warps_on_busiest) / enough_warps);
    plan.cost = units_per_warp * warps_on_busiest * bodies * clocks_per_pair(bodies) * (1 + 0.1 * idle);
    return plan;
  }

  /// Returns the launch parameters, for `auto` those with which the busiest multiprocessor finishes earliest.
  const Plan& plan_for(LawId law, int count, bool equal_masses) const {
    if (plan_.count == count && plan_.law == law && plan_.equal_masses == equal_masses) return plan_;
    plan_ = plan_with(bodies_per_lane_ > 0 ? bodies_per_lane_ : lane_bodies.all.front(), law, count, equal_masses);
    if (bodies_per_lane_ > 0) return plan_;
    for (const int bodies : lane_bodies.all) {
      const Plan plan = plan_with(bodies, law, count, equal_masses);
      if (plan.cost < plan_.cost) plan_ = plan;
    }
    return plan_;
  }

  static constexpr std::size_t shared_bytes_per_thread = 2 * sizeof(Vec4);
  static constexpr double enough_warps = 16;  // warps per multiprocessor that hide latency

  const cuda::Device& device_;
  int block_;
  int bodies_per_lane_;  // 0: auto
  int tiles_per_item_;
  mutable Plan plan_;  // the latest result of plan_for()
  SymmetricAccumulator accumulator_;
  cuda::DeviceArray<Vec4> received_;  // copies of the first device's bodies; not used on that device
};

}  // namespace

ORRERY_KERNEL(
    cuda_symmetric, .id = "cuda-symmetric", .title = "CUDA symmetric",
    .notes =
        "Evaluates each pair once. Warps hold bodies in registers; the partners' sums travel from lane to lane by "
        "shuffles and reach memory by one atomic addition per tile, not one per pair.",
    .source = "N. Wilt, N-Body: FP Atomics v. Recomputation",
    .lesson =
        "Using Newton's third law pays once the reaction stays in registers: one factor serves both bodies, and memory "
        "sees a sum of 32 bodies per lane instead of one pair. Then register reads, not arithmetic, are the limit.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-6, .max = 1e-3}, .repeatable = false,
    .pairs_per_interaction = 0.5, .divides = true, .candidates = candidates, .create = create_kernel<Symmetric>);

}  // namespace orrery
