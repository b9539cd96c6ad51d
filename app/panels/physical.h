#pragma once

#include <optional>
#include <span>
#include <string>

#include "compute/snapshots/units.h"

namespace orrery {

enum class Dimension { length, mass, velocity, acceleration };

/// A unit in which numbers of the scene are shown: a physical one if the scene's file has units.
struct ShownUnit {
  std::string name;  ///< with a blank before it: " kpc"; empty: the scene's own
  double size = 1;   ///< in the scene's own unit, of G = 1
};

/// The one that suits a number.
ShownUnit shown_unit(const std::optional<Units>& units, Dimension dimension, double number);

/// The numbers in the unit that suits the largest: "-1.5, 0, 12.25 kpc"; "-1.5, 0, 12.25" without units.
std::string shown_text(const std::optional<Units>& units, Dimension dimension, std::span<const float> numbers);

}  // namespace orrery
