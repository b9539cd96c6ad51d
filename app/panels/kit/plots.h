#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

namespace orrery {
/// Logarithmic axis over whole decades.
struct DecadeAxis {
  int low = 0, high = 1;  ///< exponents of 10 at its ends; low < high

  /// Returns the axis that holds both values; 1 to 10 unless 0 < least <= most and both are finite.
  static DecadeAxis around(double least, double most);
  /// Returns the position of `value`: 0 at the low end, 1 at the high end, clamped to 0 to 1.
  float at(double value) const;
};

/// Linear axis that holds some values.
struct LinearAxis {
  double low, high;  ///< low < high

  /// Returns an axis that holds all finite `values`, and 0 if `from_zero`. If all are 0, the axis ends at
  /// `top_of_zeros` > 0.
  static LinearAxis around(std::span<const double> values, bool from_zero, double top_of_zeros = 1);
  /// Returns the position of `value`: 0 at the low end, 1 at the high end.
  float at(double value) const { return static_cast<float>((value - low) / (high - low)); }
};

/// Rectangle of the window to plot in.
struct PlotArea {
  ImVec2 low, high;

  float width() const { return high.x - low.x; }
  float height() const { return high.y - low.y; }
  /// Returns the point at fractions 0 to 1 of the width and height, from the lower left corner.
  ImVec2 at(float x, float y) const { return {low.x + x * width(), high.y - y * height()}; }
};

/// Draw one line and one label per decade, or every second, third … decade if they are narrow. Labels of the horizontal
/// axis are below the area, labels of the vertical axis at its left.
void draw_decades_across(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent));
void draw_decades_up(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent));

/// Draw and measure the text of a plot, in small type.
void small_text(ImVec2 at, ImU32 colour, const std::string& words);
float small_width(const std::string& words);

/// Result of plot_dot(), which draws a clickable dot, marked as `ID.index`. The current dot (`present`) has a ring.
struct PlotDot {
  bool clicked, hovered;
};

PlotDot plot_dot(const char* id, int index, ImVec2 centre, ImU32 colour, bool present);

/// Radius of a dot, in pixels.
float dot_radius();

/// Draws a step curve through dots that are sorted from left to right. The line begins at height `from`, in pixels, and
/// ends at the right edge of the area.
void draw_steps(const PlotArea& area, std::span<const ImVec2> dots, float from, ImU32 colour);

/// Draws an entry of a legend: a dot and its meaning.
void legend_entry(ImU32 colour, const char* words);

// A total time and its parts, drawn as a line of text, a bar of the parts, and their names and times.
struct TimePart {
  const char* name;
  double ms;
  bool known;
  ImU32 colour;
  const char* notes;
};

void time_head(std::string_view title, const std::string& total);

/// Draws the parts side by side, marked as `id`. The rest up to `total_ms` stays empty.
void time_bar(const char* id, std::span<const TimePart> parts, double total_ms);

/// Draws the names and times of the parts, marked as `id.NAME`, in at most `most_columns` columns; in
/// 2 if the names are long.
void time_legend(const char* id, std::span<const TimePart> parts, int most_columns = 3);

}  // namespace orrery
