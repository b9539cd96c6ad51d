#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

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

/// A dot of a plot that can be clicked, marked as `ID.index`; a ring around it if it is the `present` one.
struct PlotDot {
  bool clicked, hovered;
};

PlotDot plot_dot(const char* id, int index, ImVec2 centre, ImU32 colour, bool present);

/// Half the width of a dot.
float dot_radius();

/// Steps from dot to dot, which lie from left to right. The line begins at the height `from`, and ends at the right of
/// the area.
void draw_steps(const PlotArea& area, std::span<const ImVec2> dots, float from, ImU32 colour);

/// An entry of a legend: a dot, and what it stands for.
void legend_entry(ImU32 colour, const char* words);

// A time and what it is made of: a line that names it, a bar of its parts, and their names and times.
struct TimePart {
  const char* name;
  double ms;
  bool known;
  ImU32 colour;
  const char* notes;
};

void time_head(std::string_view title, const std::string& total);

/// The parts side by side, marked as `id`; the rest up to `total_ms` stays empty.
void time_bar(const char* id, std::span<const TimePart> parts, double total_ms);

/// Draws the names and times of the parts, marked as `id.NAME`, in at most 3 columns. Long names need fewer.
void time_legend(const char* id, std::span<const TimePart> parts, int most_columns = 3);

}  // namespace orrery
