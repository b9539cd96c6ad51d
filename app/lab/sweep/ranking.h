#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/lab/statistics.h"

namespace orrery {

/// The ranks that a measurement may have among others; 1 is the fastest. Intervals that overlap are not ranked against
/// each other. 0 and 0 for a measurement without an interval; the others ignore it.
struct Rank {
  int first = 0, last = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};
std::vector<Rank> ranks(std::span<const Summary> times);

/// "2", "2-4" or "-".
std::string to_string(Rank rank);

}  // namespace orrery
