#include "compute/kernels/vector_units.h"

// Highway compiles this file once per instruction set and chooses the best set at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/vector_units.cpp"
// Highway requires this include after the definition of HWY_TARGET_INCLUDE.
#include <hwy/foreach_target.h>
// Highway requires this include after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

/// Runs 12 chains of `rounds` multiply-adds on whole vectors. 12 exceeds two pipes times a latency of 4 or 5 clocks.
float issue_fma_chains(int rounds) {
  const hwy::HWY_NAMESPACE::ScalableTag<float> tag;
  using Vector = hwy::HWY_NAMESPACE::Vec<decltype(tag)>;
  const Vector factor = Set(tag, 0.5f);
  Vector chain[12];
  for (Vector& v : chain) v = Set(tag, 1.0f);
  for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (Vector& v : chain) v = MulAdd(v, factor, factor);
  }
  Vector sum = factor;
  for (const Vector& v : chain) sum = Add(sum, v);
  return GetLane(sum);
}

int fma_lanes() {
  return static_cast<int>(Lanes(hwy::HWY_NAMESPACE::ScalableTag<float>{}));
}

const char* fma_instruction_set() {
  return simd_name(HWY_TARGET);
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "compute/core/threads.h"

namespace orrery {
namespace {

HWY_EXPORT(issue_fma_chains);
HWY_EXPORT(fma_lanes);
HWY_EXPORT(fma_instruction_set);

constexpr int chains = 12;
constexpr int rounds_per_share = 1 << 16;
constexpr int shares_per_thread = 64;
constexpr int runs = 3;

}  // namespace

const char* simd_name(std::int64_t target) {
  const char* const name = hwy::TargetName(static_cast<decltype(hwy::SupportedTargets())>(target));
  return std::string_view{name}.starts_with("AVX3") ? "AVX-512" : name;
}

/// Uses the lowest bit of Highway's supported targets, which is the best target.
const char* best_simd_name() {
  const auto targets = static_cast<std::uint64_t>(hwy::SupportedTargets());
  return simd_name(static_cast<std::int64_t>(targets & (~targets + 1)));
}

FmaLimit measure_fma_limit(int threads) {
  FmaLimit limit{.instruction_set = HWY_DYNAMIC_DISPATCH(fma_instruction_set)(),
                 .lanes = HWY_DYNAMIC_DISPATCH(fma_lanes)()};
  const int shares = threads * shares_per_thread;
  std::atomic<float> witness = 0;  // never read, but the compiler cannot know that
  for (int run = 0; run < runs; ++run) {
    std::atomic<int> next = 0;
    const auto begin = std::chrono::steady_clock::now();
    run_team(threads, [&](int) {
      while (next.fetch_add(1) < shares) witness = HWY_DYNAMIC_DISPATCH(issue_fma_chains)(rounds_per_share);
    });
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    limit.per_s = std::max(limit.per_s, double{chains} * rounds_per_share * shares * limit.lanes / s);
  }
  return limit;
}

}  // namespace orrery
#endif
