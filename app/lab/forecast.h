#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/lab/measure.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// How long sums over all pairs will take, from those measured so far.
class Forecast {
 public:
  /// `sample` is the most bodies of a ForceSample.
  explicit Forecast(int sample = ForceSample::usual_size) : sample_{sample} {}

  /// Short sums teach nothing: what they take is mostly not the pairs.
  void learn(const KernelInfo& kernel, int count, double seconds);
  void learn_reference(int count, double seconds);

  /// Of one evaluation of all accelerations by the kernel.
  double seconds(const KernelInfo& kernel, int count) const;
  /// Of a ForceSample, in double precision on the CPU.
  double reference_seconds(int count) const;

 private:
  struct Rate {
    Backend backend;
    double seconds_per_pair;
  };
  double reference_pairs(int count) const;

  int sample_;
  std::map<std::string, Rate, std::less<>> rates_;  // by kernel id
  double reference_rate_ = 1e-9;                    // a guess of a core's, until it is known
};

}  // namespace orrery
