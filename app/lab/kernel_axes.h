#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/catalog.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

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
/// The same as parse_kernels() for the parts of such a text.
KernelSelection select_kernels(const KernelCatalog& kernels, const std::vector<std::string>& ids);

/// One tunable with the values to try.
struct Axis {
  std::string tunable;
  std::vector<std::string> values;  ///< `{"all"}`: see Tunable::values_to_measure

  bool every() const { return values.size() == 1 && values.front() == "all"; }
};
/// "block=128,256" or "block=all". `what` names the option in the error.
Axis parse_axis(std::string_view what, std::string_view text);

/// One kernel with one setting of its tunables.
struct Variant {
  KernelPtr kernel;
  Settings settings;
  Command command() const { return SelectKernel{kernel->id, settings.values()}; }
};

struct Skipped {
  std::string kernel_id, settings, reason;
};

/// Those that have the same reason: "cuda-naive, cuda-tiled".
struct SkippedTogether {
  std::string names, reason;
};
/// In the order of the first of each.
std::vector<SkippedTogether> together(const std::vector<Skipped>& skipped);

struct VariantPlan {
  std::vector<Variant> variants;
  std::vector<Skipped> skipped;
  std::vector<std::string> notes;  ///< which settings were left at their defaults, one line each
};

/// Throws UsageError unless each axis is a tunable of some selected kernel and each of its values is allowed by one.
void check_axes(const KernelSelection& selection, const std::vector<Axis>& axes);

/// A kernel with every combination of its axes, whether or not it can run here.
std::vector<Variant> every_combination(const KernelPtr& kernel, const std::vector<Axis>& axes);
/// `initial`, and the same with every other value of each tunable, one at a time.
std::vector<Variant> each_value_of(const Variant& initial);

/// Every selected kernel with every combination of its axes. Kernels that cannot run here are skipped if all were
/// selected. Throws std::runtime_error if such a kernel was named.
VariantPlan expand(const Backends& backends, const KernelSelection& selection, const std::vector<Axis>& axes);

/// Every selected kernel with its initial values, and with every other value of each tunable, one at a time. Throws as
/// expand().
VariantPlan expand_each_value(const Backends& backends, const KernelSelection& selection);

}  // namespace orrery
