#pragma once

#include <span>
#include <vector>

#include "compute/devices/learned_sizes.h"

namespace orrery {

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

}  // namespace orrery
