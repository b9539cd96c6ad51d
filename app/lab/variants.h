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
  std::string text{};    ///< one line; empty: there is no problem
  bool refused = false;  ///< true: the settings cannot run here, or are ruled out; false: the measurement failed

  explicit operator bool() const { return !text.empty(); }
};

/// Runs `action` and returns the std::exception with which it failed. A UsageError is a refusal. Passes on all other
/// exceptions.
Problem problem_of(const std::function<void()>& action);

/// Kernels to measure or verify.
struct KernelSelection {
  std::vector<KernelPtr> kernels;
  bool all = false;        ///< "all": skips kernels that cannot run here, without an error
  bool automatic = false;  ///< "auto": adds the choice of `auto` for each number of bodies
};

/// Parses "all" or ids separated by commas; not "auto". Throws UsageError that lists the known ids.
KernelSelection parse_kernels(const KernelCatalog& kernels, std::string_view text);

/// Does the same as parse_kernels(), and also accepts "auto", alone or in the list.
KernelSelection parse_kernels_or_auto(const KernelCatalog& kernels, std::string_view text);

/// Does the same as parse_kernels(), for a list that was already split.
KernelSelection select_kernels(const KernelCatalog& kernels, const std::vector<std::string>& ids);

/// One setting of a kernel, and the values to try.
struct Axis {
  std::string tunable;
  std::vector<std::string> values;  ///< `{"all"}`: see Tunable::values_to_measure

  bool every() const { return values.size() == 1 && values.front() == "all"; }
};

/// Parses "block=128,256" or "block=all". `what` names the option in the error.
Axis parse_axis(std::string_view what, std::string_view text);

/// One kernel with one value per setting.
struct Variant {
  KernelPtr kernel;
  Settings settings;
  Command command() const { return SelectKernel{kernel->id, settings.values()}; }
};

struct Skipped {
  std::string kernel_id, settings, reason;
};

/// Variants that were skipped for the same reason: "cuda-naive, cuda-tiled".
struct SkippedTogether {
  std::string names, reason;
};

/// Groups skipped variants by reason, in the order of first occurrence.
std::vector<SkippedTogether> together(const std::vector<Skipped>& skipped);

struct VariantPlan {
  std::vector<Variant> variants;
  std::vector<Skipped> skipped;
  std::vector<std::string> notes;  ///< which settings were left at their defaults, one line each
};

/// Checks the axes. Throws UsageError unless, for each axis, a selected kernel has the setting, and each value is
/// allowed by at least one of them.
void check_axes(const KernelSelection& selection, const std::vector<Axis>& axes);

/// Returns a kernel with every combination of its axes, even those that cannot run here.
std::vector<Variant> every_combination(const KernelPtr& kernel, const std::vector<Axis>& axes);

/// Returns `initial`, and variants that differ from it in one setting each, with every other value of that setting.
std::vector<Variant> each_value_of(const Variant& initial);

/// Returns every selected kernel with every combination of its axes. If all kernels were selected, skips those that
/// cannot run here. Throws std::runtime_error if a named kernel cannot run here.
VariantPlan expand(const Backends& backends, const KernelSelection& selection, const std::vector<Axis>& axes);

/// Returns every selected kernel with its initial values, and with every other value of each setting, one at a time.
/// Throws as expand().
VariantPlan expand_each_value(const Backends& backends, const KernelSelection& selection);

/// Formats the settings in a table's cells. A wide style shows all settings. Otherwise shows those that are not initial
/// values, or in which rows of the same kernel differ.
class SettingsCells {
 public:
  explicit SettingsCells(const TextStyle& style) : all_{style.wide()} {}
  /// Adds a row. Call for every row of the table before the first text(). `kernel` is null if this build does not have
  /// it, as tables also show results of earlier runs.
  void add(const std::string& kernel_id, const Settings::Values& values, const KernelInfo* kernel);
  /// Returns "block=128 split=4".
  std::string text(const std::string& kernel_id, const Settings::Values& values) const;

 private:
  struct Seen {
    Settings::Values first, initial;
    std::set<std::string> differing;
  };
  bool all_;
  std::map<std::string, Seen> kernels_;
};

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
