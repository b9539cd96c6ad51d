#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "app/options.h"
#include "app/statistics.h"
#include "compute/diagnostics/reference.h"
#include "compute/diagnostics/ulp_histogram.h"
#include "compute/sim/simulation.h"

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

/// What one kernel with its settings took for one system of bodies.
struct Measurement {
  Status status{};  ///< of the simulation, as it was measured
  int repeats = 0, steps_a_repeat = 0;
  Summary step_ms{};              ///< of one step
  double interactions_per_s = 0;  ///< at the median
  ForceError error{};             ///< of the accelerations at the first state
  double gflop_per_s() const { return interactions_per_s * 20 / 1e9; }
};

/// Steps before measuring: one that is discarded, and at least one more for steps_for_a_repeat().
inline int made_warmup_steps(const BenchOptions& options) {
  return std::max(options.warmup_steps, 2);
}

/// Steps that make a repeat last some 20 ms, at least one: shorter ones drown in the clock's and launches' grain.
int steps_for_a_repeat(double step_ms);

}  // namespace orrery
