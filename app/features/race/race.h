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

#include "app/features/race/race_status.h"
#include "app/lab/variant_runner.h"
#include "app/lab/variants.h"
#include "app/text/csv.h"

namespace orrery {

/// The participants of a race: each combination of a kernel with its settings, an integrator and a time step.
/// Integrators that need jerks are paired with the kernels that give them, and all others with the other kernels, if
/// there are any.
struct RacePlan {
  SceneRequest scene{};
  std::vector<Command> setup{};  ///< the law and its constants
  std::vector<Variant> variants{};
  std::vector<std::string> integrators{};  ///< ids
  std::vector<float> time_steps{};  ///< shortened so that whole steps reach the end; empty: multiples of the scene's
  double until = 1;                 ///< the time at the end, > 0
};

/// All integrators; without those that need jerks if `kernels` are named and none of them gives any.
std::vector<std::string> race_integrators(std::span<const KernelPtr> kernels);
/// `usual`, and this machine's default kernel that gives jerks if `usual` gives none, as far as any of the integrators
/// is for them.
std::vector<KernelPtr> race_kernels(const Backends& backends, const KernelPtr& usual,
                                    std::span<const std::string> integrators);

/// "cpu-simd, leapfrog, dt 0.01"
std::string words_for(const RaceRun& result);
/// The runs that no other one beats in both time and energy error, as indices, from the least error on.
std::vector<std::size_t> race_front(const std::vector<RaceRun>& results);
/// The index of the fastest result whose energy error is at most `limit`; none: there is none.
std::optional<std::size_t> cheapest_within(const std::vector<RaceRun>& results, double limit);
/// The winners for the limits 1e-2, 1e-3 and so on to 1e-7, as far as a result keeps them.
std::vector<RaceWinner> race_winners(const std::vector<RaceRun>& results);

/// Runs all combinations to the same time from the same bodies, one after the other.
class Race {
 public:
  static constexpr std::int64_t most_steps = 100'000'000;  ///< of one run

  /// Loads the bodies. `backends` must outlive this. Throws UsageError, also if a run would take more than `most_steps`
  /// steps or no kernel suits an integrator, or std::runtime_error.
  Race(const Backends& backends, RacePlan plan);
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  bool ended() const { return stopped_ || at_ == entries_.size(); }
  /// Moves on; call until ended(). Returns whether a batch is in flight, so that there is time for a nap. What a run
  /// fails with is its problem.
  bool tick();
  /// Ends the race with the results that there are.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// The results of the runs that have ended.
  const std::vector<RaceRun>& results() const { return results_; }
  /// The current run: "cpu-simd, leapfrog, dt 0.01".
  std::string present() const;
  /// The share of the runs that have ended, 0 to 1, with that of the current one.
  double done() const;
  /// Time to the end, in s, at the speed until now; none: not known yet.
  std::optional<double> left_s() const;
  /// Status of the scene's bodies, with the law of the race.
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
  std::size_t at_ = 0;  // in entries_
  bool begun_ = false;  // the current entry
  bool in_flight_ = false;
  std::int64_t taken_ = 0;  // steps of the current entry
  Status status_;
  std::optional<double> energy_;  // of the first state; none: not measured yet
  bool samples_ = false;          // the batch in flight measures the energy
  double step_s_ = 0;             // of the current entry, in its last batch; 0: not known yet
};

inline constexpr std::array<std::string_view, 10> race_columns{"kernel",       "settings",    "integrator",   "dt",
                                                               "steps",        "evaluations", "interactions", "seconds",
                                                               "energy_error", "problem"};

std::array<std::string, race_columns.size()> race_fields(const RaceRun& result);
Json race_json(const RaceRun& result);

/// The head of a race's files: the machine, the bodies and the law, without what the race varies.
Json race_metadata(const Backends& backends, const Race& race);

/// The contents of the JSON file.
Json race_json(const Race& race, const Json& metadata);

}  // namespace orrery
