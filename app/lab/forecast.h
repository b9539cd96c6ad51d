#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/lab/force_promise.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Estimates the time of sums over all pairs from the sums measured so far.
class Forecast {
 public:
  /// `sample` is the largest number of bodies in a ForceSample.
  explicit Forecast(int sample = ForceSample::usual_size) : sample_{sample} {}

  /// Learns the kernel's rate from one sum. Ignores short sums, whose time is mostly overhead.
  void learn(const KernelInfo& kernel, int count, double seconds);
  void learn_reference(int count, double seconds);

  /// Returns the estimated time of one evaluation of all accelerations by the kernel, in s.
  double seconds(const KernelInfo& kernel, int count) const;
  /// Returns the estimated time of a ForceSample, in double precision on the CPU, in s.
  double reference_seconds(int count) const;

 private:
  struct Rate {
    Backend backend;
    double seconds_per_pair;
  };
  double reference_pairs(int count) const;

  int sample_;
  std::map<std::string, Rate, std::less<>> rates_;  // by kernel id
  double reference_rate_ = 1e-9;                    // seconds per pair; initially a guess for one core
};

}  // namespace orrery
