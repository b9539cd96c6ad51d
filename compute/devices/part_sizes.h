#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// How large the parts of an evaluation are: equal at first, and then such that all cost the same.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// The part of each of `count` things in order, by its index.
  std::vector<int> owners(int count) const;
  /// `costs`: times or work of the present parts, in their order. Changes the parts if one cost 5 % more than the mean,
  /// and returns whether it did.
  bool learn(std::span<const double> costs);

 private:
  std::vector<double> shares_;  // their sum is 1
};

/// The sizes of parts, from the least times of several evaluations: other programs, and the host, disturb some.
class LearnedSizes {
 public:
  /// `quick`: at first, while nothing is known of the work, so many evaluations are learned from one by one.
  explicit LearnedSizes(int parts, int quick = 0) : sizes_{parts}, quick_{quick} {}

  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// `ms`: by part, of an evaluation with these sizes. Returns whether it changed them.
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
  /// Of other bodies.
  void forget_times() { timed_ = 0; }

 private:
  static constexpr int evaluations_per_change = 4;

  PartSizes sizes_;
  int quick_;
  std::vector<double> least_ms_;  // by part, of the evaluations with these sizes
  int timed_ = 0;                 // so many of them
};

/// The parts of evaluations whose times become known some evaluations later, and of which some keep the parts of an
/// earlier one.
class LearnedParts {
 public:
  explicit LearnedParts(int parts) : sizes_{parts, quick_evaluations} {}

  /// For the next evaluation, unless it keeps others.
  std::vector<Part> parts() const { return sizes_.parts(); }
  /// See PartSizes::owners().
  std::vector<int> owners(int count) const { return sizes_.owners(count); }
  /// After an evaluation: whether it kept the parts of the one before, and whether it is the one that was timed last.
  void evaluated(bool kept_parts, bool timed) {
    if (!kept_parts) in_use_ = latest_;
    if (timed) timed_ = in_use_;
  }
  /// `ms`: by part, of the evaluation that was timed last. Times of other parts than the latest say nothing about
  /// these.
  void learn(std::span<const double> ms) {
    if (timed_ == latest_ && sizes_.learn(ms)) ++latest_;
  }

  /// Of other bodies.
  void forget_times() { sizes_.forget_times(); }

 private:
  static constexpr int quick_evaluations = 3;

  LearnedSizes sizes_;
  int latest_ = 0, in_use_ = 0, timed_ = 0;  // changes of the sizes before the parts concerned
};

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
