#include "app/lab/sweep/ranking.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {
namespace {

bool has_interval(const Summary& time) {
  return std::isfinite(time.low) && std::isfinite(time.high);
}

}  // namespace

std::vector<Rank> ranks(std::span<const Summary> times) {
  std::vector<Rank> result(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!has_interval(times[i])) continue;
    result[i] = {.first = 1, .last = 0};
    for (const Summary& other : times) {
      if (!has_interval(other)) continue;
      if (other.high < times[i].low) ++result[i].first;
      if (other.low <= times[i].high) ++result[i].last;  // one of them is times[i] itself
    }
  }
  return result;
}

std::string to_string(Rank rank) {
  if (rank.first == 0) return "-";
  return rank.first == rank.last ? fmt::format("{}", rank.first) : fmt::format("{}-{}", rank.first, rank.last);
}

}  // namespace orrery
