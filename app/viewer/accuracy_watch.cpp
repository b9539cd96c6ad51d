#include "app/viewer/accuracy_watch.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

/// Errors scatter by about a factor of e from body to body, so the median of a sample does by about 1.25 / sqrt(size):
/// twice that.
double scatter(int sample) {
  return 1 + 2.5 / std::sqrt(sample);
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
  const double error = probe.error.median;
  if (error <= status.accuracy) pause_s_ = shortest_pause_s;
  const bool before = exceeded_;
  exceeded_ = error > status.accuracy * scatter(probe.sample);
  if (!before || !exceeded_ || (chosen_s_ && now_s - *chosen_s_ < pause_s_)) return false;
  if (chosen_s_) pause_s_ = std::min(2 * pause_s_, longest_pause_s);
  chosen_s_ = now_s;
  exceeded_ = false;
  return true;
}

}  // namespace orrery
