#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/compare/divergence.h"
#include "app/lab/measurement.h"
#include "app/lab/variants.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// How two runs with their own time steps stay at equal times: `a` steps of the one take as long as `b` of the other,
/// and one of the two is 1.
struct LockStep {
  int a = 1, b = 1;
};

/// Throws UsageError unless one time step is a whole multiple of the other, up to rounding. Both are > 0.
LockStep lock_step_of(float time_step_a, float time_step_b);

/// A kernel with its settings, and what else one run may do in its own way.
struct RunVariant {
  Variant variant;                             ///< no kernel: the one that `auto` will choose
  std::optional<std::string> integrator_id{};  ///< none: that of both runs
  std::optional<float> time_step{};            ///< none: that of both runs
  double nudge = 0;                            ///< see nudge_bodies()

  /// Makes the simulation, which is in its first state, run this.
  void apply_to(Simulation& simulation) const;
  /// "cpu-tree theta=0.7 dt=0.01": the settings that differ from the initial ones.
  std::string name() const;
};

/// Moves each body by `length` (>= 0) in a random direction, always the same ones. A body whose coordinates are too
/// large to hold so small a difference moves by what they can hold.
void nudge_bodies(Bodies& bodies, double length);

/// Reads "KERNEL" or "auto", then any number of "NAME=VALUE" with commas or blanks between. NAME is a setting of the
/// kernel that is named, `integrator`, `dt` or `nudge`. `what` names the option in the error. Throws UsageError.
RunVariant parse_run_variant(const KernelCatalog& kernels, std::string_view what, std::string_view text);

/// Two variants to compare, and how.
struct PairPlan {
  SceneRequest scene{};
  std::vector<Command> setup{};  ///< integrator, law and time step of both
  std::array<RunVariant, 2> variants;
  std::int64_t steps = 1000;             ///< of the run with the longer time step, >= 1
  std::optional<std::int64_t> every{};   ///< of these steps, from sample to sample; none: `samples` samples
  std::int64_t energy_bodies = 1 << 16;  ///< of at most so many bodies, the energy is measured at selected samples
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
  /// Status of the simulation of one run, 0 or 1.
  const Status& status(int which) const;
  /// Measurement of one run after its latest step, with a sample for each batch.
  Measurement member(int which) const;
  /// Size of the system in the common state, see median_radius().
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
