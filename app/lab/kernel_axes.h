#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/catalog.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

/// The kernels that a benchmark or a verification was asked for.
struct KernelSelection {
  std::vector<KernelPtr> kernels;
  bool all = false;        ///< "all": what cannot run here is skipped rather than an error
  bool automatic = false;  ///< "auto": for each number of bodies what `auto` chooses; `kernels` is empty
};
/// "all" or ids with commas between; not "auto". Throws UsageError that lists the known ids.
KernelSelection parse_kernels(const KernelCatalog& kernels, std::string_view text);

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

struct VariantPlan {
  std::vector<Variant> variants;
  std::vector<Skipped> skipped;
  std::vector<std::string> notes;  ///< what is left at its default where, one line each
};

/// Throws UsageError unless each axis is a tunable of some selected kernel and each of its values is allowed by one.
void check_axes(const KernelSelection& selection, const std::vector<Axis>& axes);

/// Every selected kernel with every combination of the axes that it has. Kernels that cannot run here are skipped if
/// all were asked for. Throws std::runtime_error if one was asked for by name.
VariantPlan expand(const Backends& backends, const KernelSelection& selection, const std::vector<Axis>& axes);

}  // namespace orrery
