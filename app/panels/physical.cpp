#include "app/panels/physical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

/// The scene's own unit, in CGS.
double own_unit(const Units& units, Dimension dimension) {
  switch (dimension) {
    case Dimension::length:
      return units.length_cm;
    case Dimension::mass:
      return units.mass_g;
    case Dimension::time:
      return units.time_s();
    case Dimension::velocity:
      return units.velocity_cm_s;
    case Dimension::acceleration:
      return units.velocity_cm_s / units.time_s();
    case Dimension::density:
      return units.mass_g / std::pow(units.length_cm, 3);
    case Dimension::mass_per_area:
      return units.mass_g / std::pow(units.length_cm, 2);
  }
  return 1;
}

NamedUnit unit_for(Dimension dimension, double value) {
  switch (dimension) {
    case Dimension::length:
      return length_unit_for(value);
    case Dimension::mass:
      return mass_unit_for(value);
    case Dimension::time:
      return time_unit_for(value);
    case Dimension::velocity:
      return velocity_unit_for(value);
    case Dimension::acceleration:
      return acceleration_unit_for(value);
    case Dimension::density:
      return density_unit_for(value);
    case Dimension::mass_per_area:
      return mass_per_area_unit_for(value);
  }
  return {"", 1};
}

}  // namespace

ShownUnit shown_unit(const std::optional<Units>& units, Dimension dimension, double number) {
  if (!units) return {};
  const double own = own_unit(*units, dimension);
  const NamedUnit unit = unit_for(dimension, std::abs(number) * own);
  return {std::string{" "} + unit.name, unit.size / own};
}

std::string shown_text(const std::optional<Units>& units, Dimension dimension, std::span<const float> numbers) {
  double largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::abs(double{number}));
  const ShownUnit unit = shown_unit(units, dimension, largest);
  std::string text;
  for (const float number : numbers) {
    text += (text.empty() ? "" : ", ") + four_digits(double{number} / unit.size);
  }
  return text + unit.name;
}

ShownRange shown_range(const std::optional<Units>& units, const Legend& legend) {
  if (!units || !legend.dimension) return {legend.low, legend.high, legend.unit};
  const ShownUnit unit = shown_unit(units, *legend.dimension, std::max(std::abs(legend.low), std::abs(legend.high)));
  return {legend.low / unit.size, legend.high / unit.size, unit.name.substr(1)};
}

}  // namespace orrery
