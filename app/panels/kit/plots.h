#pragma once

#include <imgui.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/text/plot.h"

namespace orrery {
/// Width of text in small type.
float small_width(std::string_view words);

/// How the mouse uses a plot in this frame.
struct PlotUse {
  std::optional<int> hovered{}, clicked{};  ///< PlotMark::row
  std::optional<double> x{};                ///< value of the horizontal axis at the mouse
};

/// Draws a plot as an item of this size, marked as `id`, and its marks as `id.ROW`.
PlotUse draw_plot(const char* id, const Plot& plot, ImVec2 size);

/// Draws an entry of a legend: a dot and its meaning.
void legend_entry(PlotInk ink, const char* words);

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
