#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "app/lab/variants.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// Returns the kernel that a setup selects first, or null for the default one. The simulation is made with it, so that
/// no other kernel must be able to run here.
KernelPtr kernel_of_setup(const KernelCatalog& kernels, std::span<const Command> setup);

/// Carries out the setup of a new simulation, then sets the `settings`, if any, of the default kernel. Throws as
/// Simulation::apply(). If the default kernel lacks a setting, throws UsageError that names other kernels.
void set_up(Simulation& simulation, const Backends& backends, std::span<const Command> setup,
            const Settings::Values& settings);

/// Prints assumptions about the bodies of the scene's file on stderr, such as missing velocities: one line each.
/// Returns them joined in one line; empty if there were none.
std::string print_scene_notes(const Simulation& simulation);

/// Steps one system of bodies with one variant after the other. The first variant makes the simulation with its own
/// kernel, so that no other kernel must be able to run here. So does the first variant after a failed one. All calls
/// throw the variant's failure (see problem_of()). After a stop request, they throw Cancelled; a CPU step in progress
/// is cancelled.
class VariantRunner {
 public:
  /// Gives a new simulation its integrator, law and bodies.
  using Prepare = std::function<void(Simulation& simulation)>;
  /// `backends` must outlive this object.
  VariantRunner(const Backends& backends, SceneRequest scene, Prepare prepare, std::stop_token stop = {})
      : backends_{backends}, scene_{std::move(scene)}, prepare_{std::move(prepare)}, stop_{std::move(stop)} {}

  /// Returns the simulation. Makes it if there is none. It has the settings of the previous variant, or the kernel's
  /// initial ones.
  Simulation& simulation(const KernelPtr& kernel);
  /// Returns null before the simulation was made.
  Simulation* simulation() { return simulation_.get(); }
  const Simulation* simulation() const { return simulation_.get(); }
  void select(const Variant& variant);
  /// Returns the system to its first state.
  void restart();

  /// Starts a batch of steps with the selected variant and returns immediately. A batch of 0 steps only measures what
  /// was requested from the simulation. Call collect() until the batch has ended.
  void start(int steps);
  /// Returns the timing of the batch once it has ended; none while it runs.
  std::optional<StepTiming> collect();
  /// Runs a batch with the selected variant and blocks until it has ended.
  StepTiming run(int steps);
  /// Returns the time per step of this variant, in ms, from one batch. Blocks. Excludes what precedes a batch: the rise
  /// of the clocks, and the extra evaluation after a change of kernel.
  double step_ms(const Variant& variant, int steps);

 private:
  void throw_if_cancelled() const;
  template <class Action>
  auto guarded(Action action);
  void raise_clocks();

  const Backends& backends_;
  SceneRequest scene_;
  Prepare prepare_;
  std::stop_token stop_;
  std::unique_ptr<Simulation> simulation_;
  int steps_ = 0;        // number of steps of the batch in flight
  bool failed_ = false;  // whether the simulation's state is unknown
  bool clocks_raised_ = false;
};

}  // namespace orrery
