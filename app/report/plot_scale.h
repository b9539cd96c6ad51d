#pragma once

#include <string>
#include <vector>

namespace orrery {

/// An axis from `low` to `high`, with its ticks.
struct PlotScale {
  struct Tick {
    double value;
    std::string label;
  };

  double low = 0, high = 1;  ///< low < high; both > 0 if logarithmic
  bool logarithmic = false;
  std::vector<Tick> ticks{};

  /// Where `value` lies from 0 at `low` to 1 at `high`.
  double at(double value) const;
};

/// Logarithmic, with room around both values, which are finite and > 0. With `powers`, ticks are "10⁻⁷", else "0.1".
PlotScale log_scale(double least, double most, bool powers);
/// Linear, from a tick to a tick. The values are finite, least <= most.
PlotScale linear_scale(double least, double most);

}  // namespace orrery
