#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/table.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

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

}  // namespace orrery
