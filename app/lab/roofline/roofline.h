#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/lab/measurement.h"
#include "app/lab/roofline/instruction_counts.h"
#include "app/text/csv.h"
#include "app/text/table.h"
#include "compute/cuda/peak_rates.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Returns the size of an array that exceeds all caches of this processor: twice the last-level cache, but 64 to 256
/// MiB. Returns 0 if less than eight times as much memory is free.
std::size_t uncached_array_bytes();

/// Measures the memory bandwidth in bytes/s: `threads` threads read two arrays and write a third of this size (triad of
/// STREAM, McCalpin 1995). Takes the best of four passes, about 0.2 s in all. Write-allocate traffic, up to a third
/// more, is not counted. Returns 0 for empty arrays. Throws std::bad_alloc.
double measure_memory_rate(int threads, std::size_t array_bytes = uncached_array_bytes());

/// Measured peak rates of the processor with all threads that this program may use.
struct CpuPeakRates {
  int threads = 0;
  std::string instruction_set{};  ///< vector instructions in use, such as "AVX2"
  double fma_per_s = 0;           ///< single-precision fused multiply-adds, counted per lane
  double memory_bytes_per_s = 0;  ///< see measure_memory_rate(); 0: too little memory is free

  Json json() const;
  /// Returns one line without title and line end.
  std::string text() const;
};

/// Measures for about 0.3 s, on all threads.
CpuPeakRates measure_cpu_peak_rates();

/// Measured peak rates of the CUDA device, or why there are none.
struct MachinePeakRates {
  int device = 0;
  std::optional<PeakRates> peak_rates{};
  std::string reason{};  ///< one line; empty if the rates are known

  /// Returns device, fma_per_s, fp32_flop_per_s, rsqrt_per_s, clock_mhz, dram_bytes_per_s and dram_limit_bytes_per_s;
  /// null: not known. If no rate is known, there is only `reason`.
  Json json() const;
  /// Returns one line without title and line end.
  std::string text() const;
};

/// Measures for about 70 ms on the device.
MachinePeakRates measure_machine_peak_rates(const Backends& backends);

/// How near measured CUDA kernels came to the GPU's peak rates; see `orrery bench --card`.
class KernelLimits {
 public:
  using CountInstructions = std::function<InstructionCounts(const KernelCard& card)>;
  /// `count` is called once per function.
  explicit KernelLimits(MachinePeakRates peak_rates, CountInstructions count = count_instructions)
      : peak_rates_{std::move(peak_rates)}, count_{std::move(count)} {}

  /// Returns the limits of a measured entry; null for a CPU kernel.
  Json json(const Measurement& entry);
  /// Returns tables of the kernel cards and limits of the entries measured on the GPU.
  std::string text(std::span<const Measurement> entries, const TextStyle& style = {});
  const MachinePeakRates& peak_rates() const { return peak_rates_; }

 private:
  struct Limits {
    InteractionCost cost{};
    RooflineShares shares{};            // fractions of the peak rates at clock_mhz
    std::optional<double> clock_mhz{};  // clock during the measurement
    std::string reason{};               // why some values are not known
  };
  static InstructionCounts count_instructions(const KernelCard& card);
  Limits limits_of(const Measurement& result);

  MachinePeakRates peak_rates_;
  CountInstructions count_;
  std::map<std::string, InstructionCounts> counted_;  // by the function's name
};

}  // namespace orrery
