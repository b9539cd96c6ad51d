#pragma once

#include <imgui.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/text/plot.h"

namespace orrery {
/// The mouse's actions on a plot in the current frame.
struct PlotUse {
  std::optional<int> hovered{}, clicked{};  ///< PlotMark::row of the mark under the mouse, and of the clicked mark
  std::optional<double> x{};                ///< horizontal position of the mouse, as a value on the axis
};

/// Draws a plot as an ImGui item of `size` pixels. Test marks: `id` for the plot, `id.ROW` for each PlotMark.
PlotUse draw_plot(const char* id, const Plot& plot, ImVec2 size);

/// Draws an entry of a legend: a dot in `ink`, then its meaning.
void legend_entry(PlotInk ink, const char* words);

// A part of a total time. The functions below draw a title line, a bar of the parts, and a legend of names and times.
struct TimePart {
  const char* name;
  double ms;
  bool known;
  ImU32 colour;
  const char* notes;
};

void time_head(std::string_view title, const std::string& total);

/// Draws the parts side by side. The bar's rest up to `total_ms` stays empty. Test mark: `id`.
void time_bar(const char* id, std::span<const TimePart> parts, double total_ms);

/// Draws the names and times of the parts in `most_columns` columns, or in 2 if there is no room. Test marks:
/// `id.NAME`.
void time_legend(const char* id, std::span<const TimePart> parts, int most_columns = 3);

}  // namespace orrery
