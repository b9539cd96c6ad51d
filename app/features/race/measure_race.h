#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/race/race.h"
#include "app/lab/variants.h"
#include "app/text/csv.h"

namespace orrery {

/// Participants of a race: the combinations of a kernel with its settings, an integrator and a time step. Only
/// combinations for which race_pairs() is true take part.
struct RacePlan {
  SceneRequest scene{};
  std::vector<Command> setup{};  ///< set the law and its constants
  std::vector<Variant> variants{};
  std::vector<std::string> integrators{};  ///< ids
  std::vector<float> time_steps{};  ///< shortened so that whole steps reach `until`; empty: multiples of the scene's
  double until = 1;                 ///< simulated time at the end, > 0
};

/// Returns the ids of all integrators. If `kernels` are given and none gives jerks, leaves out those that need jerks.
std::vector<std::string> race_integrators(std::span<const KernelPtr> kernels);
/// Returns the kernels for these integrators: `usual`, and this machine's default kernel with jerks if `usual` gives
/// none and an integrator needs them. Leaves out a kernel that no integrator needs.
std::vector<KernelPtr> race_kernels(const Backends& backends, const KernelPtr& usual,
                                    std::span<const std::string> integrators);

/// Returns the run as text: "cpu-simd, leapfrog, dt 0.01".
std::string words_for(const RaceRun& result);
/// Returns the indices of the Pareto-optimal runs in time and energy error, smallest error first.
std::vector<std::size_t> race_front(const std::vector<RaceRun>& results);
/// Returns the index of the fastest result whose energy error is at most `limit`; none if there is none.
std::optional<std::size_t> cheapest_within(const std::vector<RaceRun>& results, double limit);
/// Returns the winners for the limits 1e-2, 1e-3 and so on to 1e-7. Stops at the first limit that no result keeps.
std::vector<RaceWinner> race_winners(const std::vector<RaceRun>& results);

/// Runs all combinations from the same bodies to the same simulated time, one after the other.
class Race {
 public:
  static constexpr std::int64_t most_steps = 100'000'000;  ///< most steps of one run

  /// Loads the bodies. `backends` must outlive this object. Throws std::runtime_error, or UsageError, for example if a
  /// run needs more than most_steps steps or an integrator has no suitable kernel.
  Race(const Backends& backends, RacePlan plan);
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  bool ended() const { return stopped_ || at_ == entries_.size(); }
  /// Starts or checks the next batch of steps; call until ended(). Returns whether a batch is in flight, so that the
  /// caller may sleep. Stores the failure of a run in RaceRun::problem.
  bool tick();
  /// Ends the race, and keeps the results so far.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// Returns the results of the runs that have ended.
  const std::vector<RaceRun>& results() const { return results_; }
  /// Returns the current run as text: "cpu-simd, leapfrog, dt 0.01".
  std::string present() const;
  /// Returns the share of the runs that has been done, 0 to 1. The current run counts by its share of steps.
  double done() const;
  /// Returns the seconds left, estimated from the speed so far; none: not known yet.
  std::optional<double> left_s() const;
  /// Returns the status of the scene's bodies, with the law of the race.
  const Status& status() const { return status_; }
  double until() const { return plan_.until; }

 private:
  void require_suitable_kernels() const;
  void begin();
  void start_batch();
  std::int64_t steps_to_sample() const;
  void take(const StepTiming& timing);
  void end(Problem problem);

  RacePlan plan_;
  VariantRunner runner_;
  std::vector<RaceRun> entries_, results_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t at_ = 0;  // index of the current entry
  bool begun_ = false;  // begin() has prepared the current entry
  bool in_flight_ = false;
  std::int64_t taken_ = 0;  // number of steps that the current entry has done
  Status status_;
  std::optional<double> energy_;  // energy of the first state; none: not measured yet
  bool samples_ = false;          // the batch in flight ends with a measurement of the energy
  double step_s_ = 0;             // seconds per step of the current entry's last batch; 0: not known yet
};

inline constexpr std::array<std::string_view, 10> race_columns{"kernel",       "settings",    "integrator",   "dt",
                                                               "steps",        "evaluations", "interactions", "seconds",
                                                               "energy_error", "problem"};

std::array<std::string, race_columns.size()> race_fields(const RaceRun& result);
Json race_json(const RaceRun& result);

/// Returns the metadata of a race's files: the machine, the bodies and the law. Leaves out what the race varies.
Json race_metadata(const Backends& backends, const Race& race);

/// Returns the contents of the race's JSON file.
Json race_json(const Race& race, const Json& metadata);

}  // namespace orrery
