#include <algorithm>

#include "compute/core/force_law.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/event.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/peak_rates.h"
#include "compute/cuda/stream.h"

namespace orrery::cuda {
namespace {

constexpr int block = 256;
constexpr int chains = 16;  // independent chains per thread, to hide latency
constexpr int links = 16;   // per chain in one pass of the loop, so that the loop itself costs little
constexpr int runs = 4;
constexpr double run_ms = 5;

/// The times of the first thread. `value` is never read, but the compiler cannot know that.
struct Witness {
  long long cycles;
  long long nanoseconds;
  float value;
};

struct MultiplyAdd {
  float addend;
  /// One FFMA with two register operands. With three, register reads would be the limit, not the issue rate.
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

struct Rate {
  double per_s = 0;  ///< instructions of one lane
  double clock_mhz = 0;
};

template <class Operation>
Rate best_rate(const Device& device, Operation operation) {
  const int resident = resident_blocks(device, kernel_handle(run_chains<Operation>), block);
  const int blocks = resident * device.multiprocessors();  // all are resident at once: none runs alone at the end
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
  return {.fma_per_s = fma.per_s, .rsqrt_per_s = rsqrt.per_s, .clock_mhz = fma.clock_mhz};
}

}  // namespace orrery::cuda
