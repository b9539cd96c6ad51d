#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/lab/roofline/instruction_counts.h"
#include "app/lab/roofline/machine_peak_rates.h"
#include "app/lab/sweep/sweep.h"
#include "app/text/table.h"

namespace orrery {

/// How near measured CUDA kernels came to the GPU's peak rates: `orrery bench --card`.
class KernelLimits {
 public:
  using CountInstructions = std::function<InstructionCounts(const KernelCard& card)>;
  /// `count` is called once for each function.
  explicit KernelLimits(MachinePeakRates peak_rates, CountInstructions count = count_instructions)
      : peak_rates_{std::move(peak_rates)}, count_{std::move(count)} {}

  /// The limits of an entry that was measured; null for a kernel on the CPU.
  Json json(const SweepEntry& entry);
  /// Tables of the kernel cards and limits of the entries that were measured on the GPU.
  std::string text(std::span<const SweepEntry> entries, const TextStyle& style = {});
  const MachinePeakRates& peak_rates() const { return peak_rates_; }

 private:
  struct Limits {
    InteractionCost cost{};
    RooflineShares shares{};            // of the peak rates at clock_mhz
    std::optional<double> clock_mhz{};  // during the measurement
    std::string reason{};               // why some of these are not known
  };
  static InstructionCounts count_instructions(const KernelCard& card);
  Limits limits_of(const VariantResult& result);

  MachinePeakRates peak_rates_;
  CountInstructions count_;
  std::map<std::string, InstructionCounts> counted_;  // by function
};

}  // namespace orrery
