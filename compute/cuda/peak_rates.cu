#include <algorithm>
#include <cstddef>
#include <span>

#include "compute/core/law.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/peak_rates.h"

namespace orrery::cuda {
namespace {

constexpr int block = 256;
constexpr int chains = 16;  // independent chains per thread, to hide latency
constexpr int links = 16;   // operations per chain and pass of the loop, so that the loop itself costs little
constexpr int runs = 4;
constexpr double run_ms = 5;
constexpr std::size_t triad_arrays = 3;
constexpr std::size_t least_array_bytes = std::size_t{64} << 20;
constexpr int triad_runs = 8;

/// Measurements of the first thread. `value` is not used: storing it makes the compiler compute it.
struct Witness {
  long long cycles;
  long long nanoseconds;
  float value;
};

struct MultiplyAdd {
  float addend;
  /// Computes one FFMA with two register operands. With three, register reads would be the limit, not the issue rate.
  __device__ float operator()(float x) const { return fmaf(x, 0.875f, addend); }
};
struct ReciprocalSqrt {
  __device__ float operator()(float x) const { return reciprocal_sqrt(x); }
};

__device__ long long nanoseconds() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

template <class Operation>
__global__ void __launch_bounds__(block) run_chains(Operation operation, int passes, Witness* witness) {
  float values[chains];
#pragma unroll
  for (int chain = 0; chain < chains; ++chain) values[chain] = 1.0f + static_cast<float>(chain + threadIdx.x);
  const long long first_cycle = clock64(), first_ns = nanoseconds();
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int link = 0; link < links; ++link) {
#pragma unroll
      for (int chain = 0; chain < chains; ++chain) values[chain] = operation(values[chain]);
    }
  }
  const long long cycles = clock64() - first_cycle, ns = nanoseconds() - first_ns;
  float sum = 0;
#pragma unroll
  for (int chain = 0; chain < chains; ++chain) sum += values[chain];
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  if (first || sum < 0) *witness = {cycles, ns, sum};  // never below 0; the test makes the compiler keep every sum
}

/// Computes sum = a + factor b for `count` vectors.
__global__ void __launch_bounds__(block) add_scaled(const float4* __restrict__ a, const float4* __restrict__ b,
                                                    float factor, float4* __restrict__ sum, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * block;
  for (std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x; i < count; i += step) {
    const float4 x = a[i], y = b[i];
    sum[i] = {x.x + factor * y.x, x.y + factor * y.y, x.z + factor * y.z, x.w + factor * y.w};
  }
}

struct Rate {
  double per_s = 0;  ///< instructions per second, counted per lane
  double clock_mhz = 0;
};

template <class Operation>
Rate best_rate(const Device& device, Operation operation) {
  const int resident = resident_blocks(device, kernel_handle(run_chains<Operation>), block);
  const int blocks = resident * device.multiprocessors();  // all blocks run simultaneously: none runs alone at the end
  const Stream stream{device};
  const Event begin{device}, end{device};
  const DeviceArray<Witness> witness{device, 1};
  const auto time_ms = [&](int passes) {
    begin.record(stream.get());
    run_chains<<<blocks, block, 0, stream.get()>>>(operation, passes, witness.data());
    ORRERY_CUDA_CHECK_LAUNCH(run_chains);
    end.record(stream.get());
    end.synchronize();
    return elapsed_ms(begin, end);
  };

  constexpr int trial_passes = 500;
  time_ms(trial_passes);  // the first run also loads the code
  const int passes = static_cast<int>(std::clamp(trial_passes * run_ms / time_ms(trial_passes), 1.0, 1e6));
  double best_ms = time_ms(passes);  // the clock has risen by then
  for (int run = 1; run < runs; ++run) best_ms = std::min(best_ms, time_ms(passes));

  Witness seen{};
  download(witness.data(), std::span{&seen, 1}, stream.get());
  stream.synchronize();
  const double instructions = static_cast<double>(blocks) * block * passes * chains * links;
  return {.per_s = instructions / (best_ms * 1e-3),
          .clock_mhz = seen.nanoseconds > 0
                           ? static_cast<double>(seen.cycles) / static_cast<double>(seen.nanoseconds) * 1000
                           : 0};
}

Rate fma_rate(const Device& device) {
  device.synchronize();
  return best_rate(device, MultiplyAdd{.addend = 0.25f});
}

}  // namespace

double measure_fma_rate(const Device& device) {
  return fma_rate(device).per_s;
}

PeakRates measure_peak_rates(const Device& device) {
  const Rate fma = fma_rate(device);
  const Rate rsqrt = best_rate(device, ReciprocalSqrt{});
  return {.fma_per_s = fma.per_s,
          .rsqrt_per_s = rsqrt.per_s,
          .clock_mhz = fma.clock_mhz,
          .dram_bytes_per_s = measure_dram_rate(device),
          .dram_limit_bytes_per_s = dram_limit(device)};
}

double measure_dram_rate(const Device& device) {
  device.synchronize();
  const auto cache = static_cast<std::size_t>(device.attribute(cudaDevAttrL2CacheSize));
  const std::size_t most = device.free_memory() / 2 / triad_arrays;
  const std::size_t bytes = std::min(std::max(8 * cache, least_array_bytes), most);
  if (bytes < std::max(2 * cache, least_array_bytes / 8)) return 0;
  const std::size_t count = bytes / sizeof(float4);
  const DeviceArray<float4> a{device, count}, b{device, count}, sum{device, count};
  const Stream stream{device};
  const Event begin{device}, end{device};
  for (const auto* array : {&a, &b}) {
    ORRERY_CUDA_CHECK(cudaMemsetAsync(array->data(), 0, count * sizeof(float4), stream.get()));
  }
  const int blocks = resident_blocks(device, kernel_handle(add_scaled), block) * device.multiprocessors();
  const auto time_ms = [&] {
    begin.record(stream.get());
    add_scaled<<<blocks, block, 0, stream.get()>>>(a.data(), b.data(), 0.5f, sum.data(), count);
    ORRERY_CUDA_CHECK_LAUNCH(add_scaled);
    end.record(stream.get());
    end.synchronize();
    return elapsed_ms(begin, end);
  };
  time_ms();  // loads the code
  double best_ms = time_ms();
  for (int run = 1; run < triad_runs; ++run) best_ms = std::min(best_ms, time_ms());
  return static_cast<double>(triad_arrays * count * sizeof(float4)) / (best_ms * 1e-3);
}

double dram_limit(const Device& device) {
  const double clocks_per_s = 1e3 * device.attribute(cudaDevAttrMemoryClockRate);
  return 2 * clocks_per_s * device.attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

}  // namespace orrery::cuda
