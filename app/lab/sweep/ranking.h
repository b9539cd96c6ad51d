#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/lab/statistics.h"

namespace orrery {

/// The places that a measurement may have among others, 1 the fastest: intervals that overlap are not ranked against
/// each other. 0 and 0 for one without an interval, which counts for no other one either.
struct Rank {
  int first = 0, last = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};
std::vector<Rank> ranks(std::span<const Summary> times);

/// "2", "2-4" or "-".
std::string to_string(Rank rank);

}  // namespace orrery
