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

/// Bytes of each array that no cache of this processor holds: twice the last cache, from 64 to 256 MiB. 0 if less
/// than eight times as much memory is free.
std::size_t uncached_array_bytes();

/// Bytes per second that this many threads read from two arrays and write to a third of this size (McCalpin's triad,
/// STREAM 1995). A processor that reads a line before it writes to it moves a third more. The best of four passes, some
/// 0.2 s with the time to get the memory. 0 for no bytes. Throws std::bad_alloc.
double measure_memory_rate(int threads, std::size_t array_bytes = uncached_array_bytes());

/// Measured peak rates of the processor, with the threads that this program may use.
struct CpuPeakRates {
  int threads = 0;
  std::string instruction_set{};  ///< of the vectors: "AVX2"
  double fma_per_s = 0;           ///< fused multiply-adds in single precision, counted per lane
  double memory_bytes_per_s = 0;  ///< see measure_memory_rate(); 0: too little memory is free

  Json json() const;
  /// One line without its end and without a title.
  std::string text() const;
};

/// Takes some 0.3 s of the processor.
CpuPeakRates measure_cpu_peak_rates();

/// Measured peak rates of the CUDA device, or why there are none.
struct MachinePeakRates {
  int device = 0;
  std::optional<PeakRates> peak_rates{};
  std::string reason{};  ///< one line; empty where they are known

  /// device, fma_per_s, fp32_flop_per_s, rsqrt_per_s, clock_mhz, dram_bytes_per_s and dram_limit_bytes_per_s (null: not
  /// known); or only `reason`.
  Json json() const;
  /// One line without its end and without a title.
  std::string text() const;
};

/// Takes some 70 ms of the device.
MachinePeakRates measure_machine_peak_rates(const Backends& backends);

/// How near measured CUDA kernels came to the GPU's peak rates: `orrery bench --card`.
class KernelLimits {
 public:
  using CountInstructions = std::function<InstructionCounts(const KernelCard& card)>;
  /// `count` is called once for each function.
  explicit KernelLimits(MachinePeakRates peak_rates, CountInstructions count = count_instructions)
      : peak_rates_{std::move(peak_rates)}, count_{std::move(count)} {}

  /// The limits of an entry that was measured; null for a kernel on the CPU.
  Json json(const Measurement& entry);
  /// Tables of the kernel cards and limits of the entries that were measured on the GPU.
  std::string text(std::span<const Measurement> entries, const TextStyle& style = {});
  const MachinePeakRates& peak_rates() const { return peak_rates_; }

 private:
  struct Limits {
    InteractionCost cost{};
    RooflineShares shares{};            // of the peak rates at clock_mhz
    std::optional<double> clock_mhz{};  // during the measurement
    std::string reason{};               // why some of these are not known
  };
  static InstructionCounts count_instructions(const KernelCard& card);
  Limits limits_of(const Measurement& result);

  MachinePeakRates peak_rates_;
  CountInstructions count_;
  std::map<std::string, InstructionCounts> counted_;  // by function
};

}  // namespace orrery
