#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/ui_state/dimension.h"
#include "app/ui_state/legend.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// A unit in which numbers of the scene are shown: a physical one if the scene's file has units.
struct ShownUnit {
  std::string name;  ///< with a blank before it: " kpc"; empty: the scene's own
  double size = 1;   ///< in the scene's own unit, of G = 1
};

/// The one that suits a number.
ShownUnit shown_unit(const std::optional<Units>& units, Dimension dimension, double number);

/// The numbers in the unit that suits the largest: "-1.5, 0, 12.25 kpc"; "-1.5, 0, 12.25" without units.
std::string shown_text(const std::optional<Units>& units, Dimension dimension, std::span<const float> numbers);

/// The ends of a legend's colours.
struct ShownRange {
  double low, high;
  std::string unit;  ///< "km/s"; "length / time" without units; may be empty
};
/// Both in the unit that suits the larger.
ShownRange shown_range(const std::optional<Units>& units, const Legend& legend);

}  // namespace orrery
