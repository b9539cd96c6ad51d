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

/// Ratio of two time steps: `a` steps of run A take as much simulated time as `b` steps of B. `a` or `b` is 1.
struct LockStep {
  int a = 1, b = 1;
};

/// Returns the ratio of two time steps > 0. Throws UsageError unless one is a multiple of the other, up to rounding.
LockStep lock_step_of(float time_step_a, float time_step_b);

/// A kernel with its settings, and what may differ between the two runs besides.
struct RunVariant {
  Variant variant;                             ///< no kernel: `auto` chooses one
  std::optional<std::string> integrator_id{};  ///< none: the integrator of both runs
  std::optional<float> time_step{};            ///< none: the time step of both runs
  double nudge = 0;                            ///< see nudge_bodies()

  /// Applies this variant to a simulation that has made no step.
  void apply_to(Simulation& simulation) const;
  /// Returns the kernel and the settings that differ from the initial ones: "cpu-tree theta=0.7 dt=0.01".
  std::string name() const;
};

/// Moves each body by `length` >= 0 in a random direction, the same in every call. If a coordinate is too large to
/// represent so small a change, it is rounded.
void nudge_bodies(Bodies& bodies, double length);

/// Reads "KERNEL" or "auto", then any number of "NAME=VALUE", separated by commas or blanks. NAME is a setting of that
/// kernel, `integrator`, `dt` or `nudge`. `what` names the option in errors. Throws UsageError.
RunVariant parse_run_variant(const KernelCatalog& kernels, std::string_view what, std::string_view text);

/// Two variants to compare, and the steps and samples of the comparison.
struct PairPlan {
  SceneRequest scene{};
  std::vector<Command> setup{};  ///< set the integrator, law and time step of both runs
  std::array<RunVariant, 2> variants;
  std::int64_t steps = 1000;             ///< steps of the run with the longer time step, >= 1
  std::optional<std::int64_t> every{};   ///< such steps between two samples; none: PairedRun::samples samples in total
  std::int64_t energy_bodies = 1 << 16;  ///< energies are measured for at most this many bodies
};

/// Runs two variants from the same first state. The runs alternate: each runs alone up to the next sample, so that
/// neither slows the other's steps.
class PairedRun {
 public:
  static constexpr std::int64_t samples = 200;        ///< number of samples if the plan has no `every`
  static constexpr std::int64_t energy_samples = 20;  ///< most samples with energies, besides the first

  /// Loads the bodies of both runs, and takes the first sample. `backends` must outlive this. Throws UsageError, or
  /// std::runtime_error that names A or B.
  PairedRun(const Backends& backends, PairPlan plan);
  PairedRun(const PairedRun&) = delete;
  PairedRun& operator=(const PairedRun&) = delete;

  bool ended() const { return taken_.back().steps[static_cast<std::size_t>(slow_)] >= plan_.steps; }
  /// Starts or checks the next batch of steps; call until ended(). Returns whether a batch is in flight, so that the
  /// caller may sleep. Throws std::runtime_error that names A or B and the cause, such as a body that is not finite.
  bool tick();

  /// Returns the samples taken. The first one is of the common state.
  const std::vector<DivergenceSample>& taken() const { return taken_; }
  /// Returns the share of the steps that have run, 0 to 1.
  double done() const;
  /// Returns whether energies are measured at the sample with this index.
  bool is_selected(std::size_t index) const;
  /// Returns the status of the simulation of one run: 0 for A, 1 for B.
  const Status& status(int which) const;
  /// Returns the measurement of one run after its latest step, with a timing for each batch.
  Measurement member(int which) const;
  /// Returns the size of the system in the common state, see median_radius().
  double size() const { return size_; }
  Growth growth() const { return growth_of(taken_, size_, digits_); }
  const PairPlan& plan() const { return plan_; }

 private:
  struct Member {
    VariantRunner runner;
    int steps_per_unit = 1;          // a unit is a step of the run with the longer time step
    std::optional<double> energy{};  // energy of the common state
    std::vector<double> batch_ms{};  // time per step of each batch
  };

  bool measures_energy() const { return members_.front().runner.simulation()->status().count <= plan_.energy_bodies; }
  std::int64_t next_units() const;
  void start(int which);
  void take_sample();
  std::optional<double> energy_error(Member& member) const;

  PairPlan plan_;
  std::vector<Member> members_;  // A, B
  int slow_ = 0;                 // index of the run with the longer time step
  double time_step_ = 0;         // time step of that run, in units of time
  std::int64_t every_ = 1;
  int running_ = -1;  // index of the run whose batch is in flight; -1: none
  double size_ = 0;
  Digits digits_ = Digits::single;
  std::vector<DivergenceSample> taken_;
};

}  // namespace orrery
