#include "app/lab/forecast.h"

#include <algorithm>

namespace orrery {
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
