#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "app/lab/force_promise.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Plan of one variant's measurement: batches of steps warm it up, then each sample is the time of one batch.
struct Sampling {
  int warmup_steps = 3;  ///< the warm-up has at least this many steps; the first is a batch of its own
  int pilots = 0;        ///< the warm-up has at least this many batches of pilot_ms
  double pilot_ms = 20;  ///< planned length of a warm-up batch
  double slow_ms = std::numeric_limits<double>::infinity();  ///< a step of this length ends the warm-up
  double sample_ms = 20;                                     ///< planned length of a sample, in whole steps
  int most_steps = 100'000;                                  ///< of one batch
  bool equal_samples = true;  ///< all samples have the same number of steps; else the best time so far decides
  int samples = 10;           ///< >= 1
  int period = 1;             ///< batches after the first step have a multiple of so many steps, see Settings::period()
  int fresh_steps = 0;        ///< > 0: no warm-up; each sample is this many steps from the scene's first state
};

/// The number of steps of a batch that lasts about `batch_ms`: 1 to `most_steps`, and 1 if `step_ms` is NaN.
int steps_for(double batch_ms, double step_ms, int most_steps);

/// Plans the batches of one variant: how many steps the next one has, from the times of those before.
class Sampler {
 public:
  /// `step_ms`: the time of a step, if it is already known; else 0.
  explicit Sampler(const Sampling& sampling, double step_ms = 0) : sampling_{sampling}, pilot_step_ms_{step_ms} {}

  /// Whether the next batch belongs to the warm-up.
  bool warming_up() const;
  bool complete() const { return !warming_up() && static_cast<int>(samples_ms_.size()) >= sampling_.samples; }
  /// Steps of the next batch, >= 1.
  int next_steps() const;
  /// Adds the next batch: its steps, and the time of one of them in ms.
  void add(int steps, double step_ms);

  /// Warm-up batches that were as long as planned.
  int pilots() const { return pilots_; }
  /// The time of one step according to the warm-up, in ms; 0: not known yet.
  double pilot_step_ms() const { return pilot_step_ms_; }
  /// The shortest time of one step in a sample, in ms; that of the warm-up if there is no sample.
  double fastest_step_ms() const;
  /// Number of steps of each sample, if all have the same.
  int steps_per_sample() const;
  /// The time of one step in each sample, in ms, in their order.
  const std::vector<double>& samples_ms() const { return samples_ms_; }

 private:
  int steps_for_pilot() const { return steps_for(sampling_.pilot_ms, pilot_step_ms_, sampling_.most_steps); }
  int in_whole_periods(int steps) const;

  Sampling sampling_;
  double pilot_step_ms_;
  int warmup_steps_ = 0;  // that have run
  int pilots_ = 0;
  std::vector<double> samples_ms_;
};

/// Estimates how long sums over all pairs take, from those measured so far.
class Forecast {
 public:
  /// `sample` is the largest number of bodies in a ForceSample.
  explicit Forecast(int sample = ForceSample::usual_size) : sample_{sample} {}

  /// Ignores short sums: most of their time is not spent on pairs.
  void learn(const KernelInfo& kernel, int count, double seconds);
  void learn_reference(int count, double seconds);

  /// The time of one evaluation of all accelerations by the kernel, in s.
  double seconds(const KernelInfo& kernel, int count) const;
  /// The time of a ForceSample, in double precision on the CPU, in s.
  double reference_seconds(int count) const;

 private:
  struct Rate {
    Backend backend;
    double seconds_per_pair;
  };
  double reference_pairs(int count) const;

  int sample_;
  std::map<std::string, Rate, std::less<>> rates_;  // by kernel id
  double reference_rate_ = 1e-9;                    // seconds per pair; a guess for one core until it is known
};

}  // namespace orrery
