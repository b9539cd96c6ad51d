#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Sizes of the parts of an evaluation: equal at first, then adjusted until all parts cost the same.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// Returns the part of each of `count` items, in their order. Each part is an interval of the items.
  std::vector<int> owners(int count) const;
  /// Adjusts the sizes if the costliest part exceeds the mean by 5 %. Returns whether it did. `costs`: time or work of
  /// each current part, by part.
  bool learn(std::span<const double> costs);

 private:
  std::vector<double> shares_;  // their sum is 1
};

/// Part sizes adjusted by the minimum times of several evaluations, since other programs disturb single times.
class LearnedSizes {
 public:
  /// `quick`: number of first changes that use the times of one evaluation; later changes use four.
  explicit LearnedSizes(int parts, int quick = 0) : sizes_{parts}, quick_{quick} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Adds the times of an evaluation with the current sizes, in ms by part. Returns whether it changed the sizes.
  bool learn(std::span<const double> ms) {
    least_ms_.resize(ms.size());
    for (std::size_t part = 0; part < ms.size(); ++part) {
      least_ms_[part] = timed_ == 0 ? ms[part] : std::min(least_ms_[part], ms[part]);
    }
    if (++timed_ < (quick_ > 0 ? 1 : evaluations_per_change)) return false;
    timed_ = 0;
    quick_ = std::max(quick_ - 1, 0);
    return sizes_.learn(least_ms_);
  }
  /// Discards the times measured so far. Call when the bodies were replaced.
  void forget_times() { timed_ = 0; }

 private:
  static constexpr int evaluations_per_change = 4;

  PartSizes sizes_;
  int quick_;
  std::vector<double> least_ms_;  // minimum time of each part with the current sizes, in ms
  int timed_ = 0;                 // evaluations measured with the current sizes
};

/// Part sizes for evaluations whose times arrive some evaluations later, and of which some keep the parts of an earlier
/// one.
class LearnedParts {
 public:
  explicit LearnedParts(int parts) : sizes_{parts, quick_evaluations} {}

  /// Returns the parts for the next evaluation, unless it keeps those of an earlier one.
  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Call after an evaluation. `kept_parts`: it kept the parts of the previous one. `timed`: the next learn() has its
  /// times.
  void evaluated(bool kept_parts, bool timed) {
    if (!kept_parts) in_use_ = latest_;
    if (timed) timed_ = in_use_;
  }
  /// Adds the times of the latest timed evaluation, in ms by part. Ignores them if the sizes have changed since.
  void learn(std::span<const double> ms) {
    if (timed_ == latest_ && sizes_.learn(ms)) ++latest_;
  }

  /// Discards the times measured so far. Call when the bodies were replaced.
  void forget_times() { sizes_.forget_times(); }

 private:
  static constexpr int quick_evaluations = 3;

  LearnedSizes sizes_;
  int latest_ = 0, in_use_ = 0, timed_ = 0;  // versions of the sizes, counted from 0
};

/// Points in an evaluation at which the time of a device is recorded, in their order on its stream. The leader's stream
/// records the copies of the other devices' results.
enum class PartMark {
  begins,        ///< leader: the evaluation begins; others: the leader's data are ready
  shared,        ///< leader only: the data for the other devices are ready
  part_begins,   ///< the device has the leader's data
  offered,       ///< this device's data for the others are ready, if devices exchange
  all_offered,   ///< the data of all devices are ready, if devices exchange
  all_came,      ///< the data of the others have arrived, if devices exchange
  part_ends,     ///< the device's part has ended
  results_copy,  ///< if the leader gets results: its copy of another device's results begins
  results_came,  ///< the copy has ended
  ends,          ///< leader only: it has joined the results of all parts
  count
};

/// Time of each mark in ms after the device's `begins`. Undefined for marks that the evaluation does not have.
struct MarkTimes {
  std::array<double, static_cast<std::size_t>(PartMark::count)> ms{};

  double& operator[](PartMark mark) { return ms[static_cast<std::size_t>(mark)]; }
  double operator[](PartMark mark) const { return ms[static_cast<std::size_t>(mark)]; }
};

/// Returns the time of the device's `begins` in ms after the leader's `begins`. If the devices exchange, `all_offered`
/// is the same instant on all; otherwise, a device begins at the leader's `shared`.
double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges);

/// Returns the activities of a device up to the end of its part. `begin_ms`: see begin_after().
std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms);

}  // namespace orrery
