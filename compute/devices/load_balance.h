#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Sizes of the parts of an evaluation: equal at first, then adjusted so that all parts cost the same.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// Returns the index of the part to which each of `count` items belongs. Each part is an interval of the items.
  std::vector<int> owners(int count) const;
  /// Adjusts the sizes if the costliest part exceeds the mean by 5 %. Returns whether they changed. `costs`: time or
  /// work of each part with the current sizes.
  bool learn(std::span<const double> costs);

 private:
  std::vector<double> shares_;  // their sum is 1
};

/// Part sizes that are adjusted by the minimum times of several evaluations, because other programs disturb single
/// times.
class LearnedSizes {
 public:
  /// `quick`: number of initial changes that use the times of one evaluation; each later change uses four evaluations.
  explicit LearnedSizes(int parts, int quick = 0) : sizes_{parts}, quick_{quick} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Adds the times of an evaluation with the current sizes, one per part, in ms. Returns whether the sizes changed.
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
  int timed_ = 0;                 // number of evaluations measured with the current sizes
};

/// Part sizes for evaluations whose times arrive some evaluations later. An evaluation may keep the parts of an earlier
/// one.
class LearnedParts {
 public:
  explicit LearnedParts(int parts) : sizes_{parts, quick_evaluations} {}

  /// Returns the parts for the next evaluation. The evaluation may keep earlier parts instead.
  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// Call after an evaluation. `kept_parts`: it used the parts of the previous one. `timed`: the next learn() receives
  /// the times of this evaluation.
  void evaluated(bool kept_parts, bool timed) {
    if (!kept_parts) in_use_ = latest_;
    if (timed) timed_ = in_use_;
  }
  /// Adds the times of the latest timed evaluation, one per part, in ms. Ignores them if the sizes have changed since.
  void learn(std::span<const double> ms) {
    if (timed_ == latest_ && sizes_.learn(ms)) ++latest_;
  }

  /// Discards the times measured so far. Call when the bodies were replaced.
  void forget_times() { sizes_.forget_times(); }

 private:
  static constexpr int quick_evaluations = 3;

  LearnedSizes sizes_;
  int latest_ = 0, in_use_ = 0, timed_ = 0;  // versions of the sizes, counted from 0: newest, last used, last timed
};

/// Points in an evaluation at which events are recorded, in their order on a device's stream. Copies of results are
/// recorded on the leader's stream.
enum class PartMark {
  begins,        ///< leader: the evaluation begins; other device: the leader's data are ready
  shared,        ///< leader only: the data for the other devices are ready
  part_begins,   ///< the leader's data have arrived, and the part begins
  offered,       ///< if the devices exchange data: this device's data for the others are ready
  all_offered,   ///< if the devices exchange data: the data of all devices are ready
  all_came,      ///< if the devices exchange data: the others' data have arrived
  part_ends,     ///< the device's part has ended
  results_copy,  ///< if the leader collects results: its copy of this device's results begins
  results_came,  ///< the copy has ended
  ends,          ///< leader only: the results of all parts are joined
  count
};

/// Time of each mark in ms since the device's `begins`. Undefined for marks that were not recorded.
struct MarkTimes {
  std::array<double, static_cast<std::size_t>(PartMark::count)> ms{};

  double& operator[](PartMark mark) { return ms[static_cast<std::size_t>(mark)]; }
  double operator[](PartMark mark) const { return ms[static_cast<std::size_t>(mark)]; }
};

/// Returns the time of the device's `begins` in ms since the leader's `begins`. If the devices exchange data,
/// `all_offered` is taken as the same instant on all devices. Otherwise, a device begins at the leader's `shared`.
double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges);

/// Returns the activities of a device until its part ends. `begin_ms`: see begin_after().
std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms);

}  // namespace orrery
