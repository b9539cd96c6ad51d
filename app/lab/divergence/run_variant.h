#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/lab/kernel_axes.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// A kernel with its settings, and what else one run may do in its own way.
struct RunVariant {
  Variant variant;                             ///< no kernel: the one that `auto` will choose
  std::optional<std::string> integrator_id{};  ///< none: that of both runs
  std::optional<float> time_step{};            ///< none: that of both runs
  double nudge = 0;                            ///< see nudge_bodies()

  static constexpr Range<double> nudges{0, 1e30, "in units of length"};

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

}  // namespace orrery
