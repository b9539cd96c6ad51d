#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/divergence/divergence.h"
#include "app/lab/divergence/lock_step.h"
#include "app/lab/divergence/run_variant.h"
#include "app/lab/variant_runner.h"

namespace orrery {

/// What is compared.
struct PairPlan {
  SceneRequest scene{};
  std::vector<Command> setup{};  ///< integrator, law and time step of both
  std::array<RunVariant, 2> variants;
  std::int64_t steps = 1000;             ///< of the run with the longer time step, >= 1
  std::optional<std::int64_t> every{};   ///< of these steps, from sample to sample; none: `samples` samples
  std::int64_t energy_bodies = 1 << 16;  ///< of at most so many bodies, the energy is measured at selected samples
};

/// One run of a pair after some samples.
struct PairMember {
  Status status;                  ///< after the latest step
  double step_ms = 0;             ///< median of the batches' times per step; NaN: there is none yet
  double interactions_per_s = 0;  ///< NaN: not known
};

/// Runs two variants from the same first state, one after the other up to each sample, so that neither disturbs the
/// time of the other.
class PairedRun {
 public:
  static constexpr std::int64_t samples = 200;        ///< unless the plan says how often
  static constexpr std::int64_t energy_samples = 20;  ///< at most, and the first

  /// Loads the bodies of both, and measures the first sample. `backends` must outlive this. Throws UsageError or
  /// std::runtime_error that names A or B.
  PairedRun(const Backends& backends, PairPlan plan);
  PairedRun(const PairedRun&) = delete;
  PairedRun& operator=(const PairedRun&) = delete;

  bool ended() const { return taken_.back().steps[static_cast<std::size_t>(slow_)] >= plan_.steps; }
  /// Moves on; call until ended(). Returns whether a batch is in flight, so that there is time for a nap. Throws
  /// std::runtime_error that names A or B and what failed: a body that is not finite, for example.
  bool tick();

  /// The first is that of the common state.
  const std::vector<DivergenceSample>& taken() const { return taken_; }
  /// The share of the steps that have run, 0 to 1.
  double done() const;
  /// Whether the sample with this index is one of the few that energies are measured of.
  bool is_selected(std::size_t index) const;
  PairMember member(int which) const;
  /// Of the common state, see median_radius().
  double size() const { return size_; }
  Growth growth() const { return growth_of(taken_, size_, digits_); }
  const PairPlan& plan() const { return plan_; }

 private:
  struct Member {
    VariantRunner runner;
    int steps_per_unit = 1;          // units last as long as a step of the run with the longer time step
    std::optional<double> energy{};  // of the common state
    std::vector<double> batch_ms{};  // per step
  };

  bool measures_energy() const { return members_.front().runner.simulation()->status().count <= plan_.energy_bodies; }
  std::int64_t next_units() const;
  void start(int which);
  void take_sample();
  std::optional<double> energy_error(Member& member) const;

  PairPlan plan_;
  std::vector<Member> members_;  // A, B
  int slow_ = 0;                 // the one with the longer time step
  double time_step_ = 0;         // of that one
  std::int64_t every_ = 1;
  int running_ = -1;  // the member whose batch is in flight
  double size_ = 0;
  Digits digits_ = Digits::single;
  std::vector<DivergenceSample> taken_;
};

}  // namespace orrery
