#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/text/table.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// Why a variant was not measured.
struct Problem {
  std::string text{};    ///< one line; empty: no problem
  bool refused = false;  ///< these settings cannot run here, or are ruled out; false: it failed

  explicit operator bool() const { return !text.empty(); }
};

/// Runs `action` and returns the exception that it failed with. A UsageError is a refusal. Passes on what is no
/// std::exception.
Problem problem_of(const std::function<void()>& action);

/// The kernels to measure or to verify.
struct KernelSelection {
  std::vector<KernelPtr> kernels;
  bool all = false;        ///< "all": a kernel that cannot run here is skipped, not an error
  bool automatic = false;  ///< "auto": also the choice of `auto` for each number of bodies
};

/// "all" or ids with commas between; not "auto". Throws UsageError that lists the known ids.
KernelSelection parse_kernels(const KernelCatalog& kernels, std::string_view text);

/// The same, and "auto" alone or in the list.
KernelSelection parse_kernels_or_auto(const KernelCatalog& kernels, std::string_view text);

/// Does what parse_kernels() does, for the parts of such a text.
KernelSelection select_kernels(const KernelCatalog& kernels, const std::vector<std::string>& ids);

/// One setting of a kernel with the values to try.
struct Axis {
  std::string tunable;
  std::vector<std::string> values;  ///< `{"all"}`: see Tunable::values_to_measure

  bool every() const { return values.size() == 1 && values.front() == "all"; }
};

/// "block=128,256" or "block=all". `what` names the option in the error.
Axis parse_axis(std::string_view what, std::string_view text);

/// One kernel with one value for each of its settings.
struct Variant {
  KernelPtr kernel;
  Settings settings;
  Command command() const { return SelectKernel{kernel->id, settings.values()}; }
};

struct Skipped {
  std::string kernel_id, settings, reason;
};

/// Variants that were skipped for one reason: "cuda-naive, cuda-tiled".
struct SkippedTogether {
  std::string names, reason;
};

/// Groups skipped variants by reason, in the order of the first of each.
std::vector<SkippedTogether> together(const std::vector<Skipped>& skipped);

struct VariantPlan {
  std::vector<Variant> variants;
  std::vector<Skipped> skipped;
  std::vector<std::string> notes;  ///< which settings were left at their defaults, one line each
};

/// Throws UsageError unless each axis is a setting of at least one selected kernel, and at least one of them allows
/// each of its values.
void check_axes(const KernelSelection& selection, const std::vector<Axis>& axes);

/// Returns a kernel with every combination of its axes, whether or not it can run here.
std::vector<Variant> every_combination(const KernelPtr& kernel, const std::vector<Axis>& axes);

/// Returns `initial`, and the same with every other value of each setting, one at a time.
std::vector<Variant> each_value_of(const Variant& initial);

/// Returns every selected kernel with every combination of its axes. If all kernels were selected, those that cannot
/// run here are skipped. Throws std::runtime_error if a kernel that was named cannot run here.
VariantPlan expand(const Backends& backends, const KernelSelection& selection, const std::vector<Axis>& axes);

/// Returns every selected kernel with its initial values, and with every other value of each setting, one at a time.
/// Throws as expand().
VariantPlan expand_each_value(const Backends& backends, const KernelSelection& selection);

/// The settings in a table's cells: all of them if the style is wide; else those that are not initial values, and those
/// in which rows of the same kernel differ.
class SettingsCells {
 public:
  explicit SettingsCells(const TextStyle& style) : all_{style.wide()} {}
  /// Call for every row of the table before the first text(). `kernel` is null if this build does not have it: tables
  /// also show results of earlier runs.
  void add(const std::string& kernel_id, const Settings::Values& values, const KernelInfo* kernel);
  /// "block=128 split=4"
  std::string text(const std::string& kernel_id, const Settings::Values& values) const;

 private:
  struct Seen {
    Settings::Values first, initial;
    std::set<std::string> differing;
  };
  bool all_;
  std::map<std::string, Seen> kernels_;
};

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
