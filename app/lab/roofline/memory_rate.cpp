#include "app/lab/roofline/memory_rate.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "compute/core/host_memory.h"
#include "compute/core/team.h"

namespace orrery {
namespace {

constexpr std::size_t triad_arrays = 3;
constexpr int triad_passes = 4;
constexpr int part_length = 1024;  // a constant, so that the compiler takes vectors; 12 KiB stay in the first cache
constexpr int parts_of_a_chunk = 64;

using TriadPart = float[part_length];

void add_scaled_part(const float* __restrict__ a, const float* __restrict__ b, float factor, float* __restrict__ sum) {
  for (int i = 0; i < part_length; ++i) sum[i] = a[i] + factor * b[i];
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

}  // namespace orrery
