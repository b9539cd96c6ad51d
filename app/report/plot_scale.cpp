#include "app/report/plot_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "app/report/html.h"

namespace orrery {
namespace {

/// 1, 2 or 5 times a power of ten, at least `step` > 0.
double round_step(double step) {
  const double ten = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * ten >= step * (1 - 1e-9)) return factor * ten;
  }
  return 10 * ten;
}

std::string linear_label(double value, double step, double largest) {
  if (std::abs(value) < step / 2) return "0";
  if (largest < 1e-3 || largest >= 1e5) return power_of_ten(value);
  const int digits = std::max(1, 1 + static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 1e-9))) -
                                                      std::floor(std::log10(step * (1 + 1e-9)))));
  return (value < 0 ? "\u2212" : "") + plain_number(std::abs(value), digits);
}

}  // namespace

double PlotScale::at(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

PlotScale log_scale(double least, double most, bool powers) {
  constexpr double room = 0.08, least_decades = 1;
  const double middle = (std::log10(least) + std::log10(most)) / 2;
  const double half = std::max(std::log10(most / least) * (0.5 + room), least_decades / 2);
  PlotScale scale{.low = std::pow(10, middle - half), .high = std::pow(10, middle + half), .logarithmic = true};
  const bool few = 2 * half <= 2.5;  // decades
  for (int exponent = static_cast<int>(std::floor(std::log10(scale.low))); std::pow(10, exponent) <= scale.high;
       ++exponent) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10, exponent);
      if (value < scale.low || value > scale.high || (factor > 1 && !few)) continue;
      std::string label = !powers      ? plain_number(value, 1)
                          : factor > 1 ? std::to_string(factor) + "\u00d7" + decade(exponent)
                                       : decade(exponent);
      scale.ticks.push_back({value, std::move(label)});
    }
  }
  return scale;
}

PlotScale linear_scale(double least, double most) {
  constexpr int intervals = 5;
  if (!(most > least)) {
    const double around = least == 0 ? 1 : std::abs(least) / 2;
    least -= around;
    most += around;
  }
  const double step = round_step((most - least) / intervals);
  PlotScale scale{.low = std::floor(least / step + 1e-9) * step, .high = std::ceil(most / step - 1e-9) * step};
  const double largest = std::max(std::abs(scale.low), std::abs(scale.high));
  for (int i = 0; i <= std::lround((scale.high - scale.low) / step); ++i) {
    const double value = scale.low + i * step;
    scale.ticks.push_back({value, linear_label(value, step, largest)});
  }
  return scale;
}

}  // namespace orrery
