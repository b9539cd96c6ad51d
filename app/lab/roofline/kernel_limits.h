#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/lab/roofline/machine_peak_rates.h"
#include "app/lab/roofline/slots.h"
#include "app/lab/variant_result.h"
#include "app/text/text_style.h"

namespace orrery {

/// How near measured CUDA kernels came to what the GPU can do: `orrery bench --card`.
class KernelLimits {
 public:
  using CountSlots = std::function<Slots(const KernelCard& card)>;
  /// `count_slots` is asked once for each function.
  explicit KernelLimits(MachinePeakRates peak_rates, CountSlots count_slots = slots_of)
      : peak_rates_{std::move(peak_rates)}, count_slots_{std::move(count_slots)} {}

  /// What an entry that was measured is told to have; null for a kernel on the CPU.
  Json json(const SweepEntry& entry);
  /// Tables of the kernel cards and limits of the entries that were measured on the GPU.
  std::string text(std::span<const SweepEntry> entries, const TextStyle& style = {});
  const MachinePeakRates& peak_rates() const { return peak_rates_; }

 private:
  struct Limits {
    std::optional<double> slots, mufu;              // of an interaction
    std::optional<double> issue_share, mufu_share;  // of what the GPU can do at clock_mhz
    std::optional<double> clock_mhz;                // while it was measured
    std::string reason;                             // why some of these are not known
  };
  static Slots slots_of(const KernelCard& card);
  Limits limits_of(const VariantResult& result);

  MachinePeakRates peak_rates_;
  CountSlots count_slots_;
  std::map<std::string, Slots> counted_;  // by function
};

}  // namespace orrery
