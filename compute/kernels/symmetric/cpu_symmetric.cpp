// Highway compiles this file once per instruction set and chooses the best set at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/symmetric/cpu_symmetric.cpp"
// Highway requires this include after simd.h and the definition of HWY_TARGET_INCLUDE.
#include <hwy/foreach_target.h>
// Highway requires this include after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/symmetric/tile_rounds.h"

#ifndef ORRERY_CPU_SYMMETRIC_ONCE
#define ORRERY_CPU_SYMMETRIC_ONCE
namespace orrery {
namespace {

constexpr Values<64, 128, 256, 512, 1024> tile_values;
static_assert(std::ranges::all_of(tile_values.all, [](int tile) { return tile % max_lanes == 0; }));
/// Largest tile, in bodies. Its positions, masses and sums, and the sums of another such tile, take 40 KiB.
constexpr int max_tile = tile_values.largest;

/// Acceleration sums of consecutive bodies. Each array is aligned, and its length is a multiple of max_lanes.
struct SumArrays {
  float *x, *y, *z;
  SumArrays from(int i) const { return {x + i, y + i, z + i}; }
};

/// Range of bodies [begin, end). Both bounds are multiples of max_lanes.
struct Tile {
  int begin, end;
};

}  // namespace
}  // namespace orrery
#endif

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

#include "compute/kernels/parts/simd.inl"
#include "compute/kernels/parts/simd_pull.inl"

/// Adds the pull of `others` on bodies first to first + rows - 1 to own_sums. If `mutual`, adds the opposite pull to
/// `sums`, which begins at body others.begin. Row sums stay in registers; all rows share each load and store of `sums`.
template <int rows, bool mutual, class PairLaw>
HWY_NOINLINE void add_rows(PaddedColumns bodies, int first, Tile others, const PairLaw& pair_law, SumArrays own_sums,
                           SumArrays sums) {
  const PairLaw law = pair_law;
  Lanes x[rows], y[rows], z[rows], minus_mass[rows];
  Vec3Of<Lanes> a[rows];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    x[r] = lanes(bodies.x[first + r]);
    y[r] = lanes(bodies.y[first + r]);
    z[r] = lanes(bodies.z[first + r]);
    minus_mass[r] = lanes(-bodies.scaled_mass[first + r]);
    a[r] = {lanes(0), lanes(0), lanes(0)};
  }
  for (int j = others.begin; j < others.end; j += lane_count) {
    const Lanes xj = load(bodies.x + j), yj = load(bodies.y + j), zj = load(bodies.z + j);
    const Lanes mass = load(bodies.scaled_mass + j);
    const SumArrays to = sums.from(j - others.begin);
    Vec3Of<Lanes> b{load(to.x), load(to.y), load(to.z)};
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      add_mutual_pull<mutual>(law, xj - x[r], yj - y[r], zj - z[r], mass, minus_mass[r], a[r], b);
    }
    if constexpr (mutual) {
      store(b.x, to.x);
      store(b.y, to.y);
      store(b.z, to.z);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    own_sums.x[r] += sum_of_lanes(a[r].x);
    own_sums.y[r] += sum_of_lanes(a[r].y);
    own_sums.z[r] += sum_of_lanes(a[r].z);
  }
}

/// Adds the first `count` entries of `added` to `sums` if `add`; otherwise overwrites `sums` with them.
void hand_over(const SumArrays& added, int count, bool add, const SumArrays& sums) {
  const auto column = [&](const float* from, float* to) {
    for (int i = 0; i < count; i += lane_count) store(add ? load(to + i) + load(from + i) : load(from + i), to + i);
  };
  column(added.x, sums.x);
  column(added.y, sums.y);
  column(added.z, sums.z);
}

/// Evaluates all pairs of a body of `a` and a body of `b`. The tiles must be equal or disjoint. Sums start at zero in a
/// buffer, since short sums round less. At the end they are added to `sums`, or overwrite `sums` if not `add`.
template <int rows, class PairLaw>
void meet_tiles(const ForceArgs& args, const PaddedColumns& bodies, Tile a, Tile b, const PairLaw& law, bool add,
                const SumArrays& sums) {
  HWY_ALIGN float buffer[6][max_tile];
  const SumArrays sums_b{buffer[0], buffer[1], buffer[2]};
  const bool same = a.begin == b.begin;
  const SumArrays sums_a = same ? sums_b : SumArrays{buffer[3], buffer[4], buffer[5]};
  for (float* column : buffer) {
    for (int i = 0; i < std::max(a.end - a.begin, b.end - b.begin); i += lane_count) store(lanes(0), column + i);
  }

  for (int block = a.begin; block < a.end; block += max_lanes) {
    if (cancelled(args)) return;
    // Within one tile, pairs inside a block are evaluated from both sides, and pairs with later bodies once.
    const Tile others{same ? block + max_lanes : b.begin, b.end};
    for (int i = block; i < block + max_lanes; i += rows) {
      const SumArrays own = sums_a.from(i - a.begin);
      if (same) add_rows<rows, false>(bodies, i, {block, block + max_lanes}, law, own, sums_b);
      add_rows<rows, true>(bodies, i, others, law, own, sums_b.from(others.begin - b.begin));
    }
  }
  hand_over(sums_b, b.end - b.begin, add, sums.from(b.begin));
  if (!same) hand_over(sums_a, a.end - a.begin, add, sums.from(a.begin));
}

void meet_simd_tiles(const ForceArgs& args, const PaddedColumns& bodies, Tile a, Tile b, int rows, bool add,
                     const SumArrays& sums) {
  visit_pair_law_of_lanes(args.law, [&](const auto& law) {
    simd_rows.dispatch(rows,
                       [&](auto count) { meet_tiles<decltype(count)::value>(args, bodies, a, b, law, add, sums); });
  });
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery {
namespace {

HWY_EXPORT(meet_simd_tiles);
HWY_EXPORT(target_name);

constexpr const char* candidates[] = {""};
/// Operations per interaction: half of a pair's 20 (gravity) or 22. cpu-simd takes 16 or 18 per interaction.
constexpr InteractionArithmetic symmetric_arithmetic{.gravity = 10, .attract_repel = 11};
constexpr auto tiles_or_auto = tile_values.names_after("auto");
// Measured G interactions/s with 1, 2 and 4 rows: 3.9, 4.2, 4.0 (one thread, tiles of 512, AVX2 on an EPYC, Zen 3,
// 2026-11).
constexpr Tunable tunables[] = {
    deciding_threads_tunable,
    {.name = "rows",
     .notes = "Bodies that share each load of the others and each load and store of the others' sums.",
     .values = simd_rows_or_auto,
     .initial = "auto"},
    {.name = "tile",
     .notes = "Bodies of a tile: pairs of tiles are handed out to the threads, and sums within a tile are added first.",
     .values = tiles_or_auto,
     .initial = "auto"}};

class CpuSymmetric final : public ForceKernel, public ArithmeticFacet {
 public:
  explicit CpuSymmetric(const Settings& settings)
      : threads_{thread_count(settings)},
        rows_{settings.integer("rows", rows_for_this_processor())},
        tile_{settings.integer("tile")} {}

  void do_evaluate(const ForceArgs& args) override {
    const PaddedColumns bodies = columns_.fill(args, threads_);
    const int padded = bodies.padded_count, tile = tile_of(args.count);
    const TileRounds rounds{(padded - 1) / tile + 1};
    prepare_sums(padded, rounds);
    const auto range = [&](int t) { return Tile{t * tile, t * tile + std::min(tile, padded - t * tile)}; };

    const auto meet = [&](int round, int slot) {
      const auto [a, b] = rounds.pair(round, slot);
      if (a > b) return;  // the slot is empty
      wait_for_round(a, round);
      wait_for_round(b, round);
      if (!cancelled(args)) {
        HWY_DYNAMIC_DISPATCH(meet_simd_tiles)(args, bodies, range(a), range(b), rows_, round > 0, sums_);
      }
      end_round(a, round);
      if (b != a) end_round(b, round);
    };
    // Each loop runs several rounds, so that threads need not synchronize after every round. It does not run all
    // rounds, because their number of tasks may overflow an int.
    const int rounds_per_loop = std::max(1, (1 << 20) / rounds.slots());
    for (int begin = 0; begin < rounds.rounds() && !cancelled(args); begin += rounds_per_loop) {
      const int some = std::min(rounds_per_loop, rounds.rounds() - begin);
      for_each_chunk(some * rounds.slots(), 1, threads_, args.cancelled,
                     [&](int task, int) { meet(begin + task / rounds.slots(), task % rounds.slots()); });
    }
    for_each_chunk(args.count, 1 << 12, threads_, args.cancelled, [&](int first, int last) {
      if (cancelled(args)) return;
      for (int i = first; i < last; ++i) {
        args.epilogue.finish(i, args.bodies[i].w, {sums_.x[i], sums_.y[i], sums_.z[i]});
      }
    });
  }

  InteractionArithmetic arithmetic() const override { return symmetric_arithmetic; }
  std::string chosen(int count, const MassRange& /*masses*/) const override {
    return std::string{HWY_DYNAMIC_DISPATCH(target_name)()} + ", rows " + std::to_string(rows_) + ", tile " +
           std::to_string(tile_of(count)) + ", threads " + std::to_string(threads_);
  }

 private:
  /// Returns the tile size in bodies. For `auto`, it is the largest that gives each thread a pair of tiles in every
  /// round: larger tiles have fewer row sums to add up. G interactions/s with tiles of 128, 256, 512 and 1024: 3.8,
  /// 4.1, 4.2, 4.3; cpu-simd: 2.9 (16,384 bodies, 2 rows, one thread, AVX2, EPYC Zen 3, 2026-11).
  int tile_of(int count) const {
    if (tile_ > 0) return tile_;
    int tile = max_tile;
    while (threads_ > 1 && tile > tile_values.all.front() && count / tile < 2 * threads_) tile /= 2;
    return tile;
  }

  void prepare_sums(int padded, const TileRounds& rounds) {
    const std::size_t size = 3 * static_cast<std::size_t>(padded);
    if (size != sums_size_) {
      memory_ = hwy::AllocateAligned<float>(size);
      sums_size_ = memory_ ? size : 0;
      if (!memory_) throw std::bad_alloc{};
      sums_ = {memory_.get(), memory_.get() + padded, memory_.get() + 2 * padded};
    }
    rounds_done_ = std::vector<std::atomic<int>>(static_cast<std::size_t>(rounds.rounds()));
  }

  /// Blocks until `tile` has finished all rounds before `round`. Threads take tasks in the order of the rounds, so they
  /// cannot deadlock.
  void wait_for_round(int tile, int round) {
    const std::atomic<int>& rounds_done = rounds_done_[static_cast<std::size_t>(tile)];
    for (int done = rounds_done; done < round;) done = wait_for_change(rounds_done, done);
  }
  void end_round(int tile, int round) {
    std::atomic<int>& rounds_done = rounds_done_[static_cast<std::size_t>(tile)];
    rounds_done = round + 1;
    rounds_done.notify_all();
  }

  int threads_;
  int rows_;
  int tile_;
  BodyColumns columns_;
  std::size_t sums_size_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> memory_;
  SumArrays sums_{};
  std::vector<std::atomic<int>> rounds_done_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_symmetric, .id = "cpu-symmetric", .title = "CPU symmetric",
    .notes = "Threads and vectors as in cpu-simd, but each pair is evaluated once and pulls both of its bodies.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14, each pair once, on threads and SIMD",
    .lesson =
        "On a CPU the reaction costs few instructions more, and none waits for another thread: tiles of bodies meet in "
        "rounds, each tile in one pair of a round.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 1e-6, .max = 3e-4},
    .pairs_per_interaction = 0.5, .candidates = candidates, .create = create_kernel<CpuSymmetric>);

}  // namespace orrery
#endif
