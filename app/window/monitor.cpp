// Timing of the measurements of the running system.
#include "app/window/monitor.h"

#include <algorithm>
#include <cmath>

#include "app/lab/tuning/candidates.h"

namespace orrery {
namespace {

/// Returns the tolerance factor for the median of a sample. Errors scatter by about a factor of e between bodies, so
/// the median scatters by about 1.25 / sqrt(sample); the tolerance is twice that.
double scatter(int sample) {
  return 1 + 2.5 / std::sqrt(sample);
}

/// Returns the tolerance factor for the 99th percentile, which is the k-th largest error with k = sample / 100. It
/// scatters by about 1 / sqrt(k).
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
namespace {

bool is_over(double now_s, std::optional<double> last_s, double interval_s) {
  constexpr double rounding_s = 1e-6;  // rounding of a clock that counts frames
  return !last_s || now_s - *last_s >= interval_s - rounding_s;
}

/// Returns whether the error of `body` is to be measured. While paused, it must belong to the current step.
bool lacks_error_of(int body, const Status& status) {
  if (body < 0 || body >= status.count) return false;
  const auto& probe = status.force_probe;
  if (!probe || !probe->bodies || !probe->bodies->of(body)) return true;
  return status.paused && probe->step != status.step;
}

double pairs_of(int count) {
  return 0.5 * count * count;
}

}  // namespace

/// Returns no command during a CPU step, because a command could cancel the step.
std::vector<Command> Monitor::due(double now_s, const Status& status, const Diagnostics& wanted) {
  std::vector<Command> commands;
  follow_cost(status);
  if (status.non_finite || (status.busy && status.backend == Backend::cpu)) return commands;
  const bool lacks_body = wanted.probe && lacks_error_of(wanted.body, status);
  if (status.paused && !wanted.every_body && !lacks_body) return commands;
  // A new kernel or body is probed immediately.
  const bool at_once = !wanted.every_body && (!status.force_probe || lacks_body);
  const double probe_s = at_once ? probe_period_s : probe_interval_s(wanted);
  if ((wanted.probe || wanted.every_body) && is_over(now_s, probed_s_, probe_s)) {
    probed_s_ = now_s;
    commands.emplace_back(next_probe(wanted));
  }
  if (status.paused) return commands;
  const double conserved_s =
      status.conserved ? conserved_interval_s(wanted) : std::min(conserved_interval_s(wanted), probe_period_s);
  if (wanted.conserved_interval_s > 0 && !withheld_s(status, wanted) && is_over(now_s, summed_s_, conserved_s)) {
    summed_s_ = now_s;
    commands.emplace_back(MeasureConserved{});
  }
  if (is_over(now_s, kept_s_, keep_period_s)) {
    kept_s_ = now_s;
    commands.emplace_back(KeepCheckpoint{});
  }
  return commands;
}

std::vector<Command> Monitor::with_step(const Status& status, const Diagnostics& wanted) {
  std::vector<Command> commands;
  follow_cost(status);
  if (wanted.probe) commands.emplace_back(next_probe(wanted));
  if (wanted.conserved_interval_s > 0 && !withheld_s(status, wanted)) commands.emplace_back(MeasureConserved{});
  return commands;
}

void Monitor::follow_cost(const Status& status) {
  if (cost_.backend != status.backend || cost_.count != status.count) cost_ = {status.backend, status.count};
  if (status.force_probe && status.force_probe->sample > 0) {
    cost_.probe_ms = status.force_probe->ms / status.force_probe->sample;
    cost_.probe_preparation_ms = status.force_probe->preparation_ms;
  }
  if (!status.conserved) return;
  cost_.conserved_ms = status.conserved->ms;
  if (status.backend == Backend::cuda) sum_ms_per_pair_ = status.conserved->ms / pairs_of(status.count);
}

/// Returns the expected time of sums, in s: from earlier sums; otherwise from a comparison of forces, which also uses
/// double precision; otherwise from the rate of the slowest GPUs.
double Monitor::forecast_sum_s(const Status& status) const {
  constexpr double slow_pairs_per_s = 2e9;
  const double pairs = pairs_of(status.count);
  if (cost_.conserved_ms > 0) return cost_.conserved_ms * 1e-3;
  if (sum_ms_per_pair_ > 0) return sum_ms_per_pair_ * pairs * 1e-3;
  if (cost_.probe_ms > 0) return cost_.probe_ms / status.count * pairs * 1e-3;
  return pairs / slow_pairs_per_s;
}

/// Returns the expected time of the requested sums if they are too long to be made regularly; none otherwise.
std::optional<double> Monitor::withheld_s(const Status& status, const Diagnostics& wanted) const {
  if (repeatable_ || status.backend != Backend::cuda || !(wanted.conserved_interval_s > 0)) return std::nullopt;
  const double forecast_s = forecast_sum_s(status);
  return forecast_s > longest_sum_s ? std::optional{forecast_s} : std::nullopt;
}

/// Returns the next probe: always of the same bodies, so that errors can be compared; with every_body, of all in turn.
ProbeForces Monitor::next_probe(const Diagnostics& wanted) {
  if (!wanted.every_body) return {.sample = sample(wanted), .body = wanted.body};
  turn_ = turn_ < ProbeForces::turns.most ? turn_ + 1 : 0;
  return {.sample = sample(wanted), .turn = turn_, .body = wanted.body};
}

/// Returns the largest sample whose measurement fits into its share of the period.
int Monitor::sample(const Diagnostics& wanted) const {
  constexpr int repeatable_pairs = 1 << 25;  // for probes of every body; some 50 ms on two cores
  const int least = probe_samples.front(), most = probe_samples.back();
  if (wanted.sample > 0) return wanted.sample;
  if (repeatable_) return wanted.every_body ? std::clamp(repeatable_pairs / std::max(cost_.count, 1), 64, most) : least;
  if (!(cost_.probe_ms > 0)) return least;
  const double budget_ms =
      1e3 * (wanted.every_body ? every_body_share * every_body_period_s : probe_share * probe_period_s);
  int best = least;
  for (const int sample : probe_samples) {
    if (sample * cost_.probe_ms <= budget_ms) best = std::max(best, sample);
  }
  return best;
}

double Monitor::probe_interval_s(const Diagnostics& wanted) const {
  if (repeatable_) return wanted.every_body ? 0 : probe_period_s;
  const double cost_s = (sample(wanted) * cost_.probe_ms + cost_.probe_preparation_ms) * 1e-3;
  return wanted.every_body ? std::max(every_body_period_s, cost_s / every_body_share)
                           : std::max(probe_period_s, cost_s / probe_share);
}

double Monitor::conserved_interval_s(const Diagnostics& wanted) const {
  if (repeatable_) return wanted.conserved_interval_s;
  return std::max(wanted.conserved_interval_s, cost_.conserved_ms * 1e-3 / conserved_share);
}

void Monitor::describe(ViewStatus& view, const Status& status, double wall_s) {
  probe_arrival_.follow(status.force_probe, wall_s);
  sum_arrival_.follow(status.conserved, wall_s);
  view.probe_gap_s = probe_arrival_.gap_s;
  view.conserved_gap_s = sum_arrival_.gap_s;
  follow_cost(status);
  follow_history(status);
  view.conserved_history = history_;
  const Diagnostics& wanted = view.diagnostics;
  view.probe_interval_s = wanted.probe ? probe_interval_s(wanted) : 0;
  view.conserved_sum_s = forecast_sum_s(status);
  view.conserved_withheld_s = withheld_s(status, wanted);
  const bool sums = wanted.conserved_interval_s > 0 && !view.conserved_withheld_s;
  view.conserved_interval_s = sums ? conserved_interval_s(wanted) : 0;
}

/// Adds new sums to the history. A history belongs to one scene and one law. Drifts are relative to its first sums.
void Monitor::follow_history(const Status& status) {
  if (!(status.scene == scene_) || !status.conserved) {
    history_.clear();
    valid_after_ = -1;
  }
  if (!(status.law == law_)) {
    history_.clear();
    valid_after_ = last_step_;
  }
  scene_ = status.scene;
  law_ = status.law;
  if (status.step < last_step_) {  // an earlier state was restored
    std::erase_if(history_, [&](const ConservedProbe& p) { return p.step > status.step; });
    valid_after_ = std::min(valid_after_, status.step);
  }
  last_step_ = status.step;
  if (!status.conserved || status.conserved->step <= valid_after_) return;
  const ConservedProbe& newest = *status.conserved;
  if (!history_.empty() && newest.step <= history_.back().step) return;
  if (newest.step > status.step) return;
  history_.push_back(newest);
  if (history_.size() <= history_length) return;
  for (std::size_t i = 1; 2 * i < history_.size(); ++i) history_[i] = history_[2 * i];
  history_.resize((history_.size() + 1) / 2);
}

}  // namespace orrery
