#pragma once

#include <imgui.h>

#include <span>

#include "app/panels/kit/plot_axis.h"

namespace orrery {

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

}  // namespace orrery
