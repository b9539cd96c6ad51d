// Highway compiles this file once per instruction set and chooses the best set at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/direct/cpu_simd.cpp"
// Highway requires this include after the definition of HWY_TARGET_INCLUDE.
#include <hwy/foreach_target.h>
// Highway requires this include after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "compute/core/threads.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/tunables.h"

#ifndef ORRERY_CPU_SIMD_ONCE
#define ORRERY_CPU_SIMD_ONCE
namespace orrery {
namespace {

constexpr int max_chunk = 64;  ///< targets in a chunk: their lane sums, 12 KiB with 16 lanes, stay in the L1 cache
/// Sources in a tile: 16 KiB, which also stay in the L1 cache. All targets of a chunk use a tile before the next one is
/// loaded. The sums over a tile start at zero and are then added to the lane sums: short sums round less.
constexpr int tile = 1024;

}  // namespace
}  // namespace orrery
#endif

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

#include "compute/kernels/parts/simd.inl"
#include "compute/kernels/parts/simd_pull.inl"

/// Sums the accelerations of targets [first, last) and passes them to the epilogue.
template <int rows, class PairLaw>
void evaluate_chunk(const ForceArgs& args, const PaddedColumns& bodies, int first, int last, const PairLaw& law) {
  Vec4 points[max_chunk];
  HWY_ALIGN float sums[max_chunk * 3 * lane_count] = {};
  const int count = last - first;
  for (int i = 0; i < count; ++i) points[i] = args.bodies[args.targets.body(first + i)];
  // The last pass may have rows beyond the chunk. They repeat its last body, and their sums are not used.
  for (int i = count; i % rows != 0; ++i) points[i] = points[count - 1];

  for (int begin = 0; begin < bodies.padded_count; begin += tile) {
    if (cancelled(args)) return;
    const int end = begin + std::min(tile, bodies.padded_count - begin);
    for (int i = 0; i < count; i += rows) {
      add_bodies<rows>(bodies.x, bodies.y, bodies.z, bodies.scaled_mass, begin, end, law, points + i,
                       sums + i * 3 * lane_count);
    }
  }
  for (int i = 0; i < count; ++i) {
    args.epilogue.finish(args.targets.body(first + i), points[i].w, acceleration_of(sums + i * 3 * lane_count));
  }
}

template <int rows>
void evaluate_rows(const ForceArgs& args, const PaddedColumns& bodies, int first, int last) {
  visit_pair_law_of_lanes(args.law, [&](const auto& law) { evaluate_chunk<rows>(args, bodies, first, last, law); });
}

void evaluate_simd_rows(const ForceArgs& args, const PaddedColumns& bodies, int first, int last, int rows) {
  simd_rows.dispatch(rows, [&](auto count) { evaluate_rows<decltype(count)::value>(args, bodies, first, last); });
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery {
namespace {

HWY_EXPORT(evaluate_simd_rows);
HWY_EXPORT(target_name);

// G pairs/s by orrery_cpu_benchmark on one core of an EPYC (Zen 3, AVX2), 16,384 bodies: 3.09, 3.07 and 2.99 with 1, 2
// and 4 rows. These are 97, 96 and 93 % of the issue limit of the multiply-add pipes. cpu-serial reaches 0.28.
constexpr Tunable tunables[] = {
    threads_tunable,
    {.name = "rows",
     .notes = "Bodies whose accelerations are summed in one pass, so that they share each load of the others.",
     .values = simd_rows_or_auto,
     .initial = "auto"}};
constexpr const char* candidates[] = {""};

class CpuSimd final : public ForceKernel, public ArithmeticFacet {
 public:
  explicit CpuSimd(const Settings& settings)
      : threads_{thread_count(settings)}, rows_{settings.integer("rows", rows_for_this_processor())} {}

  void do_evaluate(const ForceArgs& args) override {
    const PaddedColumns bodies = columns_.fill(args, threads_);
    // Aims at four chunks per thread, so that threads that start late or run slower do not delay the others.
    const int targets = args.target_count(), share = targets / (4 * threads_);
    const int chunk = std::clamp(share / max_simd_rows * max_simd_rows, max_simd_rows, max_chunk);
    for_each_chunk(targets, chunk, threads_, args.cancelled, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(evaluate_simd_rows)(args, bodies, first, last, rows_);
    });
  }

  InteractionArithmetic arithmetic() const override { return simd_arithmetic; }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return std::string{HWY_DYNAMIC_DISPATCH(target_name)()} + ", rows " + std::to_string(rows_) + ", threads " +
           std::to_string(threads_);
  }

 private:
  int threads_;
  int rows_;
  BodyColumns columns_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_simd, .id = "cpu-simd", .title = "CPU SIMD",
    .notes = "Threads and vectors (AVX-512, AVX2 or what the processor has) over a structure of arrays.",
    .source = "N. Wilt, The CUDA Handbook (2013), 14.2 and 14.9, SoA and SIMD",
    .lesson =
        "A structure of arrays lets one instruction do the same step for 8 or 16 pairs. With that, a core comes close "
        "to the rate at which it can issue fused multiply-adds.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 1e-6, .max = 3e-4}, .takes_targets = true,
    .candidates = candidates, .create = create_kernel<CpuSimd>);

}  // namespace orrery
#endif
