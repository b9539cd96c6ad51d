#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compute/cuda/peak_rates.h"

namespace orrery {

/// The share of a GPU's peak rate that `interactions_per_s` use, at `each` operations per interaction, 0 to 1.
/// `peak_per_s` was measured at `peak_mhz`. It is proportional to the clock, so the share is that of the peak at
/// `clock_mhz`, the current clock, or of the measured peak if one of the clocks is not known. None if another value is
/// not known, or if the peak was exceeded: then what was measured as the peak is not it.
inline std::optional<double> share_of_peak(double interactions_per_s, std::optional<double> each, double peak_per_s,
                                           double peak_mhz, std::optional<double> clock_mhz) {
  const bool scales = clock_mhz && *clock_mhz > 0 && peak_mhz > 0;
  const double present_peak_per_s = scales ? peak_per_s * *clock_mhz / peak_mhz : peak_per_s;
  if (!each || !(interactions_per_s > 0) || !(present_peak_per_s > 0)) return std::nullopt;
  const double share = interactions_per_s * *each / present_peak_per_s;
  return share <= 1 ? std::optional{share} : std::nullopt;
}

/// Instructions per interaction in a kernel's inner loop.
struct InteractionCost {
  std::optional<double> instructions{};  ///< that the schedulers issue
  std::optional<double> mufu{};          ///< operations of the special function units among them
  bool double_precision = false;         ///< some instructions are in double precision: they issue at another rate
};

/// Shares of the peak rates of instruction issue and of the special function units, 0 to 1; none if not known.
struct RooflineShares {
  std::optional<double> issue{}, mufu{};
};

inline RooflineShares roofline_shares(double interactions_per_s, const InteractionCost& cost, const PeakRates& peak,
                                      std::optional<double> clock_mhz) {
  const auto share = [&](std::optional<double> each, double peak_per_s) {
    return share_of_peak(interactions_per_s, each, peak_per_s, peak.clock_mhz, clock_mhz);
  };
  return {.issue = share(cost.double_precision ? std::nullopt : cost.instructions, peak.fma_per_s),
          .mufu = share(cost.mufu, peak.rsqrt_per_s)};
}

/// Why a tree has no number of instructions per interaction, and so no share of a peak rate.
inline constexpr const char* no_instructions_of_a_tree =
    "a tree's interactions, with bodies and with cells, are not all the same instructions";

/// Instructions that a CUDA kernel's inner loop issues per pair of bodies, counted in its machine code.
struct InstructionCounts {
  std::optional<double> per_pair{};
  /// Operations of the special function units among them; none if some are in double precision, which have another
  /// rate.
  std::optional<double> mufu_per_pair{};
  bool double_precision = false;  ///< some are in double precision: they issue at another rate than the others
  std::string reason{};           ///< why they are not known, one line; empty if they are

  /// The cost of an interaction, for a kernel that evaluates `pairs_per_interaction` pairs for each.
  InteractionCost cost(double pairs_per_interaction) const;
};

/// Counts in the disassembly of one function as cuobjdump prints it. A pair is known by its reciprocal square root: of
/// the loops with no such loop inside, the one with the most counts, its instructions divided by its reciprocal square
/// roots. Functions that it calls are not counted, nor the few instructions around a call that a branch skips: an exact
/// square root has such code for denormals, which hardly ever runs.
InstructionCounts counts_in_sass(std::string_view sass);

/// Counts in this program's own code of `function`, a symbol, for this architecture (90 is sm_90), with cuobjdump of
/// the CUDA toolkit. Takes seconds; returns early, with a reason, after a stop request.
InstructionCounts counts_in_this_program(const std::string& function, int architecture,
                                         const std::stop_token& stop = {});

}  // namespace orrery
