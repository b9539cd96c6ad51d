#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {
/// Detects that the forces no longer meet the accuracy required of `auto`, because bodies have moved since it chose.
/// The caller gives the time in seconds, which must never decrease.
class AccuracyWatch {
 public:
  static constexpr double shortest_pause_s = 20, longest_pause_s = 640;  ///< between two choices, in seconds

  /// Returns whether `auto` is to choose again. Call every frame. True after two consecutive probes that exceed the
  /// accuracy by more than the scatter of their samples: by the median error, or by p99 / p99_over_accuracy. True at
  /// most once per pause. The pause doubles each time, until a probe is within the accuracy again.
  bool tune_again(double now_s, const Status& status);

 private:
  double pause_s_ = shortest_pause_s;
  std::optional<double> chosen_s_;     // time of the last return of true
  std::optional<std::int64_t> probe_;  // step of the latest probe
  bool exceeded_ = false;              // the latest probe exceeded the accuracy
};

/// Decides when the running system is measured, so that this takes only a small share of the time, and keeps the
/// results. The caller gives the time in seconds, which must never decrease.
class Monitor {
 public:
  static constexpr double probe_period_s = 0.5, keep_period_s = 5;
  static constexpr double probe_share = 0.02, conserved_share = 0.10;          ///< largest shares of the time
  static constexpr double every_body_period_s = 0.1, every_body_share = 0.10;  ///< with Diagnostics::every_body
  static constexpr double longest_sum_s = 0.25;  ///< on the GPU, which also draws; longer sums only on request
  static constexpr std::size_t history_length = 512;

  /// If `repeatable`, no decision depends on measured times.
  explicit Monitor(bool repeatable) : repeatable_{repeatable} {}

  /// Returns the measurements that the simulation is to make now: none during a CPU step, and while paused only those
  /// for Diagnostics::every_body and Diagnostics::body.
  std::vector<Command> due(double now_s, const Status& status, const Diagnostics& wanted);

  /// Returns the measurements that the simulation is to make with a single step.
  std::vector<Command> with_step(const Status& status, const Diagnostics& wanted);

  /// Takes the measurements in `status`, and fills in their history and the current intervals. `wall_s` is the real
  /// time in s, which the clock of a deterministic run does not follow.
  void describe(ViewStatus& view, const Status& status, double wall_s);

 private:
  /// Cost of measurements on this backend and with this number of bodies.
  struct Cost {
    Backend backend = Backend::cpu;
    int count = 0;
    double probe_ms = 0;              ///< of one body of the sample; 0: not known
    double probe_preparation_ms = 0;  ///< of a whole sample, see ForceProbe::preparation_ms
    double conserved_ms = 0;          ///< 0: not known
  };

  /// Time of the latest measurement of one kind, and its distance from the previous one.
  struct Arrival {
    std::int64_t step = 0;
    double ms = 0;
    std::optional<double> at_s, gap_s;

    void follow(const auto& found, double wall_s) {
      if (!found) {
        *this = {};
      } else if (!at_s || step != found->step || ms != found->ms) {
        gap_s = at_s && wall_s > *at_s ? std::optional{wall_s - *at_s} : std::nullopt;
        step = found->step;
        ms = found->ms;
        at_s = wall_s;
      }
    }
  };

  void follow_cost(const Status& status);
  void follow_history(const Status& status);
  int sample(const Diagnostics& wanted) const;
  ProbeForces next_probe(const Diagnostics& wanted);
  double probe_interval_s(const Diagnostics& wanted) const;
  double conserved_interval_s(const Diagnostics& wanted) const;
  std::optional<double> withheld_s(const Status& status, const Diagnostics& wanted) const;
  double forecast_sum_s(const Status& status) const;

  const bool repeatable_;
  Cost cost_;
  double sum_ms_per_pair_ = 0;                          // time per pair of the latest sums on the GPU; 0: none yet
  int turn_ = 0;                                        // turn of the next probe of every body, see ProbeForces
  std::optional<double> probed_s_, summed_s_, kept_s_;  // times of the last requests
  Arrival probe_arrival_, sum_arrival_;
  std::vector<ConservedProbe> history_;
  SceneRequest scene_;
  Law law_;
  std::int64_t valid_after_ = -1;  // sums up to this step belong to another law
  std::int64_t last_step_ = 0;
};

}  // namespace orrery
