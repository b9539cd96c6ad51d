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

/// The kernel that a setup selects first, or null for the default one. The simulation is made with it, so that no other
/// needs to run here.
KernelPtr kernel_of_setup(const KernelCatalog& kernels, std::span<const Command> setup);

/// Carries out the setup of a new simulation; then, where there are `settings`, those of the default kernel. Throws as
/// Simulation::apply(), and UsageError that names other kernels if the default one has not all of these settings.
void set_up(Simulation& simulation, const Backends& backends, std::span<const Command> setup,
            const Settings::Values& settings);

/// Prints on stderr what was assumed about the bodies of the scene's file, such as velocities that it lacks: one line
/// each. Returns the same in one line; empty if nothing was.
std::string print_scene_notes(const Simulation& simulation);

/// One system of bodies that is stepped with one variant after the other. The first variant makes the simulation, with
/// its own kernel: no other kernel has to be able to run here. So does the first variant after one that failed. All
/// calls throw what the variant fails with (see problem_of()), and Cancelled once `stop` was requested, which also
/// cancels a step on the CPU that they wait for.
class VariantRunner {
 public:
  /// Gives a new simulation its integrator, law and bodies.
  using Prepare = std::function<void(Simulation& simulation)>;
  /// `backends` must outlive this.
  VariantRunner(const Backends& backends, SceneRequest scene, Prepare prepare, std::stop_token stop = {})
      : backends_{backends}, scene_{std::move(scene)}, prepare_{std::move(prepare)}, stop_{std::move(stop)} {}

  /// Makes the simulation if there is none. It has the settings of the variant before, or the kernel's initial ones.
  Simulation& simulation(const KernelPtr& kernel);
  /// Null until it is made.
  Simulation* simulation() { return simulation_.get(); }
  const Simulation* simulation() const { return simulation_.get(); }
  void select(const Variant& variant);
  /// Returns to the system's first state.
  void restart();

  /// Starts a batch of steps with the selected variant and returns at once; one of 0 steps only measures what is asked
  /// of the simulation. Call collect() until the batch has ended.
  void start(int steps);
  /// None while the batch runs.
  std::optional<StepTiming> collect();
  /// Runs a batch with the selected variant and waits for it.
  StepTiming run(int steps);
  /// The time of a step with this variant, in ms, from one batch; waits for it. What precedes a batch is not in its
  /// time: the clocks' rise, and the additional evaluation in the first step after another kernel.
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
  int steps_ = 0;        // of the batch in flight
  bool failed_ = false;  // the simulation's state is unknown
  bool clocks_raised_ = false;
};

}  // namespace orrery
