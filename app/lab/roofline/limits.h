#pragma once

#include <optional>

namespace orrery {

/// What share of a GPU's limit is used where `rate` interactions a second take `each` operations of a kind of which the
/// machine did `most_per_s` at `measured_mhz`. Such a limit is proportional to the clock, so it is taken at
/// `clock_mhz`, the one in force; as it was measured where one of the two clocks is not known. None where something
/// else is not known.
inline std::optional<double> share_of_limit(double rate, std::optional<double> each, double most_per_s,
                                            double measured_mhz, std::optional<double> clock_mhz) {
  const bool scales = clock_mhz && *clock_mhz > 0 && measured_mhz > 0;
  const double most_now_per_s = scales ? most_per_s * *clock_mhz / measured_mhz : most_per_s;
  if (!each || !(rate > 0) || !(most_now_per_s > 0)) return std::nullopt;
  return rate * *each / most_now_per_s;
}

/// Why a tree has no count of instructions for each interaction, and so no share of a limit.
inline constexpr const char* no_slots_of_a_tree =
    "a tree's interactions, with bodies and with cells, are not all the same instructions";

}  // namespace orrery
