#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/diagnostics/ulp_histogram.h"

namespace orrery {

/// Accelerations of some bodies in double precision, to hold a kernel's against.
class ForceSample {
 public:
  static constexpr int usual_size = 4096;
  /// Of `size` bodies; of all of them where there are fewer.
  ForceSample(std::span<const Vec4> bodies, const Law& law, int size = usual_size);
  int size() const { return static_cast<int>(targets_.size()); }
  /// What the sum took.
  double seconds() const { return seconds_; }
  /// `accelerations` has one entry for each of the bodies.
  ForceError error(std::span<const Vec4> accelerations) const {
    return force_error(accelerations, targets_, reference_);
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

/// Steps that make a repeat last some 20 ms, at least one: shorter ones drown in the clock's and launches' grain.
int steps_for_a_repeat(double step_ms);

}  // namespace orrery
