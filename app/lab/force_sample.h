#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/diagnostics/ulp_histogram.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Accelerations of some bodies in double precision: the reference for a kernel's.
class ForceSample {
 public:
  static constexpr int usual_size = 4096;
  /// Samples `size` bodies, or all if there are fewer.
  ForceSample(std::span<const Vec4> bodies, const Law& law, int size = usual_size);
  /// The bodies of the sample.
  std::span<const int> targets() const { return targets_; }
  /// Their accelerations, one for each of targets().
  std::span<const Vec3d> reference() const { return reference_; }
  int size() const { return static_cast<int>(targets_.size()); }
  /// The time that the sum took.
  double seconds() const { return seconds_; }
  /// `accelerations` has one entry for each of the bodies.
  ForceError error(std::span<const Vec4> accelerations) const {
    return force_error(accelerations, targets_, reference_);
  }
  /// The same where no others than these were evaluated: those of other bodies may be anything.
  ForceError error_of_these(std::span<const Vec4> accelerations) const {
    return target_error(entries(accelerations, targets_), targets_, reference_);
  }
  UlpHistogram ulps(std::span<const Vec4> accelerations) const {
    return ulp_histogram(accelerations, targets_, reference_);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<int> targets_;
  std::vector<Vec3d> reference_;
  double seconds_;
};

}  // namespace orrery
