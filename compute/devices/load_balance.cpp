#include "compute/devices/load_balance.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace orrery {
namespace {

/// Largest excess of the costliest part over the mean that is tolerated. Smaller changes would follow timing noise.
constexpr double allowed_imbalance = 0.05;

/// Minimum size of a part relative to an equal share. A part that was slow once then keeps enough work to be measured.
constexpr double least_share = 0.25;

}  // namespace

std::vector<Part> PartSizes::parts() const {
  std::vector<Part> parts;
  double begin = 0;
  for (const double share : shares_) {
    const bool is_last = parts.size() + 1 == shares_.size();
    parts.push_back({.index = static_cast<int>(parts.size()), .begin = begin, .end = is_last ? 1 : begin + share});
    begin = parts.back().end;
  }
  return parts;
}

std::vector<int> PartSizes::owners(int count) const {
  std::vector<int> owners;
  for (const Part& part : parts()) owners.resize(static_cast<std::size_t>(part.last(count)), part.index);
  return owners;
}

bool PartSizes::learn(std::span<const double> costs) {
  const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
  if (!(std::ranges::min(costs) > 0) || std::ranges::max(costs) <= (1 + allowed_imbalance) * mean) return false;
  const auto make_sum_one = [&] {
    const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    for (double& share : shares_) share /= sum;
  };
  // If cost is proportional to size, all parts cost the same with sizes proportional to size / cost.
  for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i] /= costs[i];
  make_sum_one();
  const double least = least_share / static_cast<double>(shares_.size());
  for (double& share : shares_) share = std::max(share, least);
  make_sum_one();
  return true;
}

double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges) {
  return exchanges ? leader[PartMark::all_offered] - device[PartMark::all_offered] : leader[PartMark::shared];
}

std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms) {
  std::vector<DeviceSpan> spans;
  const auto add = [&](const char* name, bool communicates, PartMark begin, PartMark end) {
    if (times[end] > times[begin])
      spans.push_back({name, communicates, begin_ms + times[begin], begin_ms + times[end]});
  };
  if (leads) add("hand out", false, PartMark::begins, PartMark::shared);
  add("bodies", true, leads ? PartMark::shared : PartMark::begins, PartMark::part_begins);
  if (exchanges) {
    add("tree", false, PartMark::part_begins, PartMark::offered);
    add("cells", true, PartMark::all_offered, PartMark::all_came);
    add("walk", false, PartMark::all_came, PartMark::part_ends);
  } else {
    add("forces", false, PartMark::part_begins, PartMark::part_ends);
  }
  return spans;
}

}  // namespace orrery
