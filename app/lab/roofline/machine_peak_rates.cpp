// Peak rates of this machine: the CPU's arithmetic and memory, and the CUDA device's.
#include "app/lab/roofline/machine_peak_rates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "app/text/table.h"
#include "compute/core/host_memory.h"
#include "compute/core/threads.h"
#include "compute/kernels/parts/fma_limit.h"
#if ORRERY_HAVE_CUDA
#include "compute/core/error.h"
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

constexpr std::size_t triad_arrays = 3;
constexpr int triad_passes = 4;
constexpr int part_length = 1024;  // a constant, so that the compiler takes vectors; 12 KiB stay in the first cache
using TriadPart = float[part_length];
constexpr int parts_of_a_chunk = 64;

void add_scaled_part(const float* __restrict__ a, const float* __restrict__ b, float factor, float* __restrict__ sum) {
  for (int i = 0; i < part_length; ++i) sum[i] = a[i] + factor * b[i];
}

/// 0 stands for what is not known.
Json or_null(double rate) {
  return rate > 0 ? Json(rate) : Json(nullptr);
}

std::string memory_text(const PeakRates& rates) {
  if (!(rates.dram_bytes_per_s > 0)) return "too little free memory to measure its rate";
  std::string text = with_prefix(rates.dram_bytes_per_s) + "B/s of memory";
  if (rates.dram_limit_bytes_per_s >= rates.dram_bytes_per_s) {
    text += fmt::format(" ({:.0f} % of what its clock allows)",
                        100 * rates.dram_bytes_per_s / rates.dram_limit_bytes_per_s);
  }
  return text;
}

}  // namespace

std::size_t uncached_array_bytes() {
  constexpr std::int64_t mib = 1 << 20;
  const std::int64_t cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  const std::int64_t wanted = std::clamp<std::int64_t>(2 * cache, 64 * mib, 256 * mib);
  return bodies_that_fit(/*bytes_per_body=*/8) < wanted ? 0 : static_cast<std::size_t>(wanted);
}

double measure_memory_rate(int threads, std::size_t array_bytes) {
  const int parts = static_cast<int>(array_bytes / sizeof(TriadPart));
  if (parts == 0) return 0;
  const auto a = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto b = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto sum = std::make_unique_for_overwrite<TriadPart[]>(static_cast<std::size_t>(parts));
  const auto in_parts = [&](const auto& work) {
    for_each_chunk(parts, parts_of_a_chunk, threads, nullptr, [&](int first, int last) {
      for (int i = first; i < last; ++i) work(i);
    });
  };
  // The first access to a page takes long.
  in_parts([&](int i) {
    for (TriadPart* array : {a.get(), b.get(), sum.get()}) std::fill_n(array[i], part_length, 1.0f);
  });
  double best_s = 0;
  for (int pass = 0; pass < triad_passes; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    in_parts([&](int i) { add_scaled_part(a[i], b[i], 0.5f, sum[i]); });
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best_s = pass == 0 ? s : std::min(best_s, s);
  }
  return static_cast<double>(triad_arrays) * parts * sizeof(TriadPart) / best_s;
}

Json CpuPeakRates::json() const {
  return {{"threads", threads},
          {"instruction_set", instruction_set},
          {"fma_per_s", json_number(fma_per_s)},
          {"memory_bytes_per_s", memory_bytes_per_s > 0 ? json_number(memory_bytes_per_s) : Json(nullptr)}};
}

std::string CpuPeakRates::text() const {
  return fmt::format("{} thread{}: {} FMA/s in FP32 ({}), {}", threads, threads == 1 ? "" : "s", with_prefix(fma_per_s),
                     instruction_set,
                     memory_bytes_per_s > 0 ? with_prefix(memory_bytes_per_s) + "B/s of memory"
                                            : "too little free memory to measure its rate");
}

CpuPeakRates measure_cpu_peak_rates() {
  const int threads = usable_threads();
  const FmaLimit limit = measure_fma_limit(threads);
  return {.threads = threads,
          .instruction_set = limit.instruction_set,
          .fma_per_s = limit.per_s,
          .memory_bytes_per_s = measure_memory_rate(threads)};
}

Json MachinePeakRates::json() const {
  if (!peak_rates) return {{"reason", reason}};
  return {{"device", device},
          {"fma_per_s", peak_rates->fma_per_s},
          {"fp32_flop_per_s", 2 * peak_rates->fma_per_s},
          {"rsqrt_per_s", peak_rates->rsqrt_per_s},
          {"clock_mhz", std::round(peak_rates->clock_mhz)},
          {"dram_bytes_per_s", or_null(peak_rates->dram_bytes_per_s)},
          {"dram_limit_bytes_per_s", or_null(peak_rates->dram_limit_bytes_per_s)}};
}

std::string MachinePeakRates::text() const {
  if (!peak_rates) return fmt::format("not measured: {}", reason);
  return fmt::format(
      "{:.1f} TFLOP/s in FP32 ({:.2f} T FMA/s at 2 flop each), {:.2f} T rsqrt/s, {}; GPU {} at {:.0f} MHz",
      2 * peak_rates->fma_per_s * 1e-12, peak_rates->fma_per_s * 1e-12, peak_rates->rsqrt_per_s * 1e-12,
      memory_text(*peak_rates), device, peak_rates->clock_mhz);
}

MachinePeakRates measure_machine_peak_rates([[maybe_unused]] const Backends& backends) {
#if ORRERY_HAVE_CUDA
  if (!backends.device()) return {.reason = backends.status(Backend::cuda).reason};
  try {
    return {.device = backends.device()->ordinal(), .peak_rates = cuda::measure_peak_rates(*backends.device())};
  } catch (const std::exception& failure) {
    return {.reason = failure_text(failure)};
  }
#else
  return {.reason = "this program was built without CUDA"};
#endif
}

}  // namespace orrery
