#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// Returns the unit that suits a number of the scene, with a blank before its name: " kpc". Its size is in the scene's
/// own unit, of G = 1. Without `units`, returns that unit, without a name.
ShownUnit shown_unit(const std::optional<Units>& units, const Dimension& dimension, double number);

/// Formats numbers in the unit that suits the largest: "-1.5, 0, 12.25 kpc"; "-1.5, 0, 12.25" without units.
std::string shown_text(const std::optional<Units>& units, const Dimension& dimension, std::span<const float> numbers);

/// The ends of a legend's colour range.
struct ShownRange {
  double low, high;
  std::string unit;  ///< "km/s"; "length / time" without units; may be empty
};

/// Returns both ends in the unit that suits the one with the larger magnitude.
ShownRange shown_range(const std::optional<Units>& units, const Legend& legend);

/// Returns the kernel with this id; null if there is none.
const KernelInfo* known_kernel(std::span<const KernelPtr> kernels, std::string_view id);

/// Returns whether `trial` is the running system.
bool is_present(const Trial& trial, const Status& status);

/// Requests a return to `trial`, unless it is running now.
void return_to(const Trial& trial, const Status& status, Requests& out);

/// Describes return_to(), for a tooltip.
std::string return_words(const Trial& trial, const Status& status);

/// Returns the settings, changed ones first, as a cell may be too narrow for all.
std::string changes_first(const Trial& trial, std::span<const KernelPtr> kernels);

/// Returns the generator's id, or the file's name without its folder.
std::string scene_name(const Trial& trial);

/// Returns "collision, seed 1, 16,384 bodies", and on a second line the law, dt, constants and integrator.
std::string system_words(const Trial& trial);

}  // namespace orrery
