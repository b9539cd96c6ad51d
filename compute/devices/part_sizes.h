#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Sizes of the parts of an evaluation: equal at first, then adjusted until all cost the same.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// Returns the index of the part of each of `count` things, which are in order.
  std::vector<int> owners(int count) const;
  /// Adjusts the parts if one cost 5 % more than the mean; returns whether it did. `costs`: times or work of the
  /// current parts, in their order.
  bool learn(std::span<const double> costs);

 private:
  std::vector<double> shares_;  // their sum is 1
};

/// Part sizes learned from the minimum times of several evaluations. Single times are noisy: other programs and the
/// host disturb some.
class LearnedSizes {
 public:
  /// `quick`: number of initial changes that are each based on one evaluation; later changes use four.
  explicit LearnedSizes(int parts, int quick = 0) : sizes_{parts}, quick_{quick} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Adds the times of an evaluation with these sizes, in ms by part. Returns whether it changed the sizes.
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

/// Part sizes for evaluations whose times become known some evaluations later. Some evaluations keep the parts of an
/// earlier one.
class LearnedParts {
 public:
  explicit LearnedParts(int parts) : sizes_{parts, quick_evaluations} {}

  /// Returns the parts for the next evaluation, unless it keeps those of an earlier one.
  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Call after an evaluation. `kept_parts`: it kept the parts of the previous one. `timed`: it is the last one timed.
  void evaluated(bool kept_parts, bool timed) {
    if (!kept_parts) in_use_ = latest_;
    if (timed) timed_ = in_use_;
  }
  /// Adds the times of the last timed evaluation, in ms by part. Ignores times of parts other than the latest.
  void learn(std::span<const double> ms) {
    if (timed_ == latest_ && sizes_.learn(ms)) ++latest_;
  }

  /// Discards the times measured so far. Call when the bodies were replaced.
  void forget_times() { sizes_.forget_times(); }

 private:
  static constexpr int quick_evaluations = 3;

  LearnedSizes sizes_;
  int latest_ = 0, in_use_ = 0, timed_ = 0;  // number of size changes before these parts
};

/// Marks of one device in an evaluation, in their order on its stream. The leader marks the copies of the other
/// devices' results.
enum class PartMark {
  begins,        ///< leader: before it shares; others: the shared blocks are ready
  shared,        ///< leader only: the shared blocks are ready
  part_begins,   ///< the device has all it needs to begin
  offered,       ///< devices that exchange: this device's offer is ready
  all_offered,   ///< devices that exchange: the other devices' offers are ready
  all_came,      ///< devices that exchange: the other devices' offers have arrived
  part_ends,     ///< the device's own part has ended
  results_copy,  ///< if the leader gets results: its copy of another device's results begins
  results_came,  ///< the copy has ended
  ends,          ///< leader: after it has joined all parts
  count
};

/// Time of each mark in ms. Undefined for marks that the evaluation does not have.
struct MarkTimes {
  std::array<double, static_cast<std::size_t>(PartMark::count)> ms{};

  double& operator[](PartMark mark) { return ms[static_cast<std::size_t>(mark)]; }
  double operator[](PartMark mark) const { return ms[static_cast<std::size_t>(mark)]; }
};

/// Returns when the device began, in ms after the leader. Both times count from the device's own begin. Devices that
/// exchange meet at `all_offered`; others begin when the leader has shared.
double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges);

/// Returns the activities of a device up to the end of its part. `times` count from its own begin, which is at
/// `begin_ms`; see begin_after().
std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms);

}  // namespace orrery
