#include "app/lab/sampling.h"

#include <algorithm>
#include <cmath>

namespace orrery {

int steps_for(double batch_ms, double step_ms, int most_steps) {
  const double steps = std::ceil(batch_ms / step_ms);
  return steps >= 1 ? static_cast<int>(std::min<double>(steps, most_steps)) : 1;
}

bool Sampler::warming_up() const {
  if (sampling_.fresh_steps > 0 || pilot_step_ms_ >= sampling_.slow_ms) return false;
  return warmup_steps_ < sampling_.warmup_steps || pilots_ < sampling_.pilots;
}

int Sampler::in_whole_periods(int steps) const {
  return (steps - 1) / sampling_.period * sampling_.period + sampling_.period;
}

int Sampler::next_steps() const {
  if (!warming_up()) {
    if (sampling_.equal_samples) return steps_per_sample();
    return in_whole_periods(steps_for(sampling_.sample_ms, fastest_step_ms(), sampling_.most_steps));
  }
  if (warmup_steps_ == 0) return 1;
  const int left = sampling_.warmup_steps - warmup_steps_;
  return in_whole_periods(left > 0 ? std::min(left, steps_for_pilot()) : steps_for_pilot());
}

/// Warm-up: a batch shorter than planned, as the first often is, shows timer resolution and start-up cost. The next
/// batch replaces its time. Among longer batches the fastest counts, because other load only slows steps down.
void Sampler::add(int steps, double step_ms) {
  if (!warming_up()) {
    samples_ms_.push_back(step_ms);
    return;
  }
  const bool as_planned = steps * step_ms >= sampling_.pilot_ms || (warmup_steps_ > 0 && steps >= steps_for_pilot());
  pilot_step_ms_ = pilots_ == 0 ? step_ms : std::min(pilot_step_ms_, step_ms);
  warmup_steps_ += steps;
  pilots_ += as_planned;
}

double Sampler::fastest_step_ms() const {
  if (samples_ms_.empty()) return pilot_step_ms_;
  const double fastest = *std::ranges::min_element(samples_ms_);
  // If one step lasts as long as a sample, a warm-up batch counts as one.
  return pilot_step_ms_ >= sampling_.sample_ms ? std::min(fastest, pilot_step_ms_) : fastest;
}

int Sampler::steps_per_sample() const {
  if (sampling_.fresh_steps > 0) return sampling_.fresh_steps;
  return in_whole_periods(steps_for(sampling_.sample_ms, pilot_step_ms_, sampling_.most_steps));
}

namespace {

constexpr double least_pairs = 1e6;

double pairs(int count) {
  return static_cast<double>(count) * count;
}

}  // namespace

double Forecast::reference_pairs(int count) const {
  return static_cast<double>(std::min(count, sample_)) * count;
}

void Forecast::learn(const KernelInfo& kernel, int count, double seconds) {
  if (pairs(count) >= least_pairs) rates_[kernel.id] = {kernel.backend, seconds / pairs(count)};
}

void Forecast::learn_reference(int count, double seconds) {
  if (reference_pairs(count) >= least_pairs) reference_rate_ = seconds / reference_pairs(count);
}

/// Uses the kernel's own rate, else the mean rate of its backend, else a guess for one core or a GPU.
double Forecast::seconds(const KernelInfo& kernel, int count) const {
  if (const auto known = rates_.find(kernel.id); known != rates_.end()) {
    return known->second.seconds_per_pair * pairs(count);
  }
  double sum = 0;
  int peers = 0;
  for (const auto& [id, rate] : rates_) {
    if (rate.backend == kernel.backend) sum += rate.seconds_per_pair, ++peers;
  }
  const double guess = kernel.backend == Backend::cpu ? 1e-9 : 1e-12;
  return (peers > 0 ? sum / peers : guess) * pairs(count);
}

double Forecast::reference_seconds(int count) const {
  return reference_rate_ * reference_pairs(count);
}

}  // namespace orrery
