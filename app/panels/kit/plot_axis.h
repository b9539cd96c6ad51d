#pragma once

#include <imgui.h>

#include <span>
#include <string>

namespace orrery {

/// An axis of whole decades.
struct DecadeAxis {
  int low = 0, high = 1;  ///< exponents of 10 at its ends; low < high

  /// The axis that holds both; values that are not > 0 do not count.
  static DecadeAxis around(double least, double most);
  /// Where `value` lies from 0 at the low end to 1, held at the ends.
  float at(double value) const;
};

/// A linear axis around some values.
struct LinearAxis {
  double low, high;  ///< low < high

  /// Holds all of `values` that are finite, and 0 if `from_zero`. If these are all 0, it ends at `top_of_zeros` > 0.
  static LinearAxis around(std::span<const double> values, bool from_zero, double top_of_zeros = 1);
  /// Where `value` lies from 0 at the low end to 1.
  float at(double value) const { return static_cast<float>((value - low) / (high - low)); }
};

/// A part of the window to plot in.
struct PlotArea {
  ImVec2 low, high;

  float width() const { return high.x - low.x; }
  float height() const { return high.y - low.y; }
  /// The place of shares 0 to 1 from the lower left corner.
  ImVec2 at(float x, float y) const { return {low.x + x * width(), high.y - y * height()}; }
};

/// One line and one label a decade, or every second, third … where they are narrow: labels of the horizontal axis lie
/// below the area, those of the vertical axis at its left.
void draw_decades_across(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent));
void draw_decades_up(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent));

/// Words of a plot, in small type.
void small_text(ImVec2 at, ImU32 colour, const std::string& words);
float small_width(const std::string& words);

}  // namespace orrery
