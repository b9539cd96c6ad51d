#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "app/lab/force_promise.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Plan of one variant's measurement: batches of steps warm it up, then each timed batch is a sample.
struct Sampling {
  int warmup_steps = 3;  ///< minimum number of warm-up steps; the first step is a separate batch
  int pilots = 0;        ///< minimum number of warm-up batches of pilot_ms
  double pilot_ms = 20;  ///< planned duration of a warm-up batch
  double slow_ms = std::numeric_limits<double>::infinity();  ///< a step that takes this long ends the warm-up
  double sample_ms = 20;                                     ///< planned duration of a sample, in whole steps
  int most_steps = 100'000;                                  ///< maximum number of steps of a batch
  bool equal_samples = true;  ///< all samples have the same number of steps; else the best time so far sets it
  int samples = 10;           ///< number of samples, >= 1
  int period = 1;       ///< each batch after the first step has a multiple of this many steps; see Settings::period()
  int fresh_steps = 0;  ///< > 0: no warm-up, and each sample is this many steps from the scene's first state
};

/// Returns the number of steps of a batch that lasts about `batch_ms`: 1 to `most_steps`, and 1 if `step_ms` is NaN.
int steps_for(double batch_ms, double step_ms, int most_steps);

/// Plans the batches of one variant: computes the steps of the next batch from the times of earlier ones.
class Sampler {
 public:
  /// `step_ms`: the time per step, if already known; else 0.
  explicit Sampler(const Sampling& sampling, double step_ms = 0) : sampling_{sampling}, pilot_step_ms_{step_ms} {}

  /// Returns whether the next batch belongs to the warm-up.
  bool warming_up() const;
  bool complete() const { return !warming_up() && static_cast<int>(samples_ms_.size()) >= sampling_.samples; }
  /// Returns the number of steps of the next batch, >= 1.
  int next_steps() const;
  /// Adds a batch that has ended: its steps, and the time per step in ms.
  void add(int steps, double step_ms);

  /// Returns the number of warm-up batches that were as long as planned.
  int pilots() const { return pilots_; }
  /// Returns the time per step in the warm-up, in ms; 0: not known yet.
  double pilot_step_ms() const { return pilot_step_ms_; }
  /// Returns the shortest time per step of a sample, in ms; that of the warm-up if there is no sample.
  double fastest_step_ms() const;
  /// Returns the number of steps per sample, if all samples have equally many.
  int steps_per_sample() const;
  /// Returns the time per step of each sample, in ms, in the order of measurement.
  const std::vector<double>& samples_ms() const { return samples_ms_; }

 private:
  int steps_for_pilot() const { return steps_for(sampling_.pilot_ms, pilot_step_ms_, sampling_.most_steps); }
  int in_whole_periods(int steps) const;

  Sampling sampling_;
  double pilot_step_ms_;
  int warmup_steps_ = 0;  // number of warm-up steps so far
  int pilots_ = 0;
  std::vector<double> samples_ms_;
};

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
