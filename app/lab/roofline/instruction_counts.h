#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compute/cuda/peak_rates.h"

namespace orrery {

/// Returns the fraction of a GPU's peak rate that `interactions_per_s` use at `each` operations per interaction, 0 to
/// 1. The peak is scaled from `peak_mhz`, at which it was measured, to the current clock `clock_mhz`. If one of the
/// clocks is not known, the measured peak is used. Returns none if another value is not known. Returns none if the
/// result would exceed 1, because the measured peak must then be wrong.
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
  std::optional<double> instructions{};  ///< issued by the schedulers
  std::optional<double> mufu{};          ///< special-function operations (MUFU) among the instructions
  bool double_precision = false;         ///< some instructions are in double precision, which has another issue rate
};

/// Fractions of the peak rates of instruction issue and special functions, 0 to 1; none if not known.
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

/// Explains why a tree has no instruction count per interaction, and so no fraction of a peak rate.
inline constexpr const char* no_instructions_of_a_tree =
    "a tree's interactions, with bodies and with cells, are not all the same instructions";

/// Instructions per pair of bodies in a CUDA kernel's inner loop, counted in its machine code.
struct InstructionCounts {
  std::optional<double> per_pair{};
  /// Special-function operations (MUFU) per pair; none if some are in double precision, which has another rate.
  std::optional<double> mufu_per_pair{};
  bool double_precision = false;  ///< some instructions are in double precision, which has another issue rate
  std::string reason{};           ///< why the counts are not known, in one line; empty if they are

  /// Returns the cost of an interaction for which the kernel evaluates `pairs_per_interaction` pairs.
  InteractionCost cost(double pairs_per_interaction) const;
};

/// Counts the instructions of one function in cuobjdump's disassembly. Each reciprocal square root marks one pair.
/// Takes the innermost loop with the most of them, and divides its instructions by their number. Ignores called
/// functions, and the few instructions around a call that a branch skips. An exact square root, for example, has such
/// code for denormals, which rarely runs.
InstructionCounts counts_in_sass(std::string_view sass);

/// Counts the instructions of `function` in this program's code for one architecture (90: sm_90). `function` is a
/// symbol. Runs cuobjdump of the CUDA toolkit, which takes seconds. After a stop request, returns early with a reason.
InstructionCounts counts_in_this_program(const std::string& function, int architecture,
                                         const std::stop_token& stop = {});

}  // namespace orrery
