#include "app/viewer/accuracy_watch.h"

#include <algorithm>
#include <cmath>

#include "app/lab/tuning/accuracy_trials.h"

namespace orrery {
namespace {

/// Errors scatter by about a factor of e from body to body, so the median of a sample does by about 1.25 / sqrt(size):
/// twice that.
double scatter(int sample) {
  return 1 + 2.5 / std::sqrt(sample);
}

/// The 99th percentile is the k-th largest error of a sample, k a hundredth of it: it scatters by about 1 / sqrt(k).
double tail_scatter(int sample) {
  return 1 + 2 / std::sqrt(std::max(1.0, 0.01 * sample));
}

}  // namespace

bool AccuracyWatch::tune_again(double now_s, const Status& status) {
  if (!status.auto_choice || status.choosing || !(status.accuracy > 0) || !status.force_probe) {
    probe_.reset();
    exceeded_ = false;
    return false;
  }
  const ForceProbe& probe = *status.force_probe;
  if (probe_ == probe.step || probe.sample < 1) return false;
  probe_ = probe.step;
  const double error = std::max(probe.error.median, probe.error.p99 / p99_over_accuracy);
  if (error <= status.accuracy) pause_s_ = shortest_pause_s;
  const bool before = exceeded_;
  exceeded_ = probe.error.median > status.accuracy * scatter(probe.sample) ||
              probe.error.p99 > p99_over_accuracy * status.accuracy * tail_scatter(probe.sample);
  if (!before || !exceeded_ || (chosen_s_ && now_s - *chosen_s_ < pause_s_)) return false;
  if (chosen_s_) pause_s_ = std::min(2 * pause_s_, longest_pause_s);
  chosen_s_ = now_s;
  exceeded_ = false;
  return true;
}

}  // namespace orrery
