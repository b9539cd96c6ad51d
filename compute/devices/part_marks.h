#pragma once

#include <array>
#include <vector>

#include "compute/kernels/device_load.h"

namespace orrery {

/// The order of one device's marks in an evaluation, on its stream. The results of the others' parts are marked by the
/// leader.
enum class PartMark {
  begins,        ///< the leader: before it shares; others: what they get is ready
  shared,        ///< the leader alone: what it shares is ready
  part_begins,   ///< they have got what they need to begin
  offered,       ///< of devices that exchange something: what this one offers is ready
  all_offered,   ///< likewise: what the others offer is ready
  all_came,      ///< likewise: it is here
  part_ends,     ///< the device's own part
  results_copy,  ///< of another device's part, if the leader gets results: it begins to copy them
  results_came,  ///< the leader has them
  ends,          ///< the leader: after it has joined all parts
  count
};

/// A time in ms for each mark; those of marks that the evaluation does not have mean nothing.
struct MarkTimes {
  std::array<double, static_cast<std::size_t>(PartMark::count)> ms{};

  double& operator[](PartMark mark) { return ms[static_cast<std::size_t>(mark)]; }
  double operator[](PartMark mark) const { return ms[static_cast<std::size_t>(mark)]; }
};

/// When a device begins, since the leader began. Both devices' times count from their own begin. Devices that exchange
/// something meet at `all_offered`; others begin when the leader has shared.
double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges);

/// What a device did up to the end of its part. `times` count from its own begin, `begin_ms` is that, see
/// begin_after().
std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms);

}  // namespace orrery
