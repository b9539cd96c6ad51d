#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {
/// Notices that the forces have become less accurate than the accuracy that `auto` must meet: the bodies have moved
/// since it chose. Its clock is the caller's, in seconds that only grow.
class AccuracyWatch {
 public:
  static constexpr double shortest_pause_s = 20, longest_pause_s = 640;  ///< from one choice to the next

  /// Whether `auto` is to choose again. Call at every frame. True after two probes in a row whose median error is above
  /// the accuracy, or whose p99 is above p99_over_accuracy times the accuracy, by more than the scatter of their
  /// samples, but at most once per pause. The pause doubles each time, until a probe is within the accuracy again.
  bool tune_again(double now_s, const Status& status);

 private:
  double pause_s_ = shortest_pause_s;
  std::optional<double> chosen_s_;     // when it last returned true
  std::optional<std::int64_t> probe_;  // the step of the latest probe
  bool exceeded_ = false;              // by the latest probe
};

/// Decides when the running system is examined, so that this takes but a small share of the time, and keeps what was
/// found. Its clock is the caller's: any time in seconds that only grows.
class Monitor {
 public:
  static constexpr double probe_period_s = 0.5, keep_period_s = 5;
  static constexpr double probe_share = 0.02, conserved_share = 0.10;          ///< of the time, at most
  static constexpr double every_body_period_s = 0.1, every_body_share = 0.10;  ///< instead, see Diagnostics::every_body
  static constexpr double longest_sum_s = 0.25;  ///< on the GPU, which draws as well; longer ones only when asked for
  static constexpr std::size_t history_length = 512;

  /// With `repeatable`, no decision depends on what anything took.
  explicit Monitor(bool repeatable) : repeatable_{repeatable} {}

  /// Returns what to ask of the simulation now: nothing while a CPU step is running, and while it is paused only what
  /// Diagnostics::every_body and Diagnostics::body ask for.
  std::vector<Command> due(double now_s, const Status& status, const Diagnostics& wanted);

  /// Returns what to ask of the simulation with a single step.
  std::vector<Command> with_step(const Status& status, const Diagnostics& wanted);

  /// Takes in what `status` has found, and fills in the history and the intervals in force. `wall_s` is the real
  /// time in s, which the clock of a repeatable run does not follow.
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

  /// Time of the latest finding of one kind, and its distance from the previous one.
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
  double sum_ms_per_pair_ = 0;                          // of the latest sums on the GPU; 0: none yet
  int turn_ = 0;                                        // of the next probe of every body
  std::optional<double> probed_s_, summed_s_, kept_s_;  // when each was asked for last
  Arrival probe_arrival_, sum_arrival_;
  std::vector<ConservedProbe> history_;
  SceneRequest scene_;
  Law law_;
  std::int64_t valid_after_ = -1;  // sums up to this step are of another law
  std::int64_t last_step_ = 0;
};

}  // namespace orrery
