#pragma once

#include "app/panels/panel_state.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {
/// Draws all panels over the picture, between ImGui::NewFrame and ImGui::Render, and appends the user's requests. Reads
/// values only: it shows `status` and `view`, and what `state` remembers.
void draw_panels(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// The width that the side column takes from the left edge, its margins included; 0 while it is hidden: also in a
/// window under least_window.
float side_column_width(const ViewStatus& view);

/// The scale of type and widgets on a display of scale `asked` in a window of this size: no more than lets the
/// laboratory have its place beside the side column, but 1 at least if that was asked. In steps of 1/8, so that a
/// window that changes its size seldom needs other type.
float fitting_scale(float asked, float width, float height);

/// How many times as large type and widgets of a presentation are, in a window of this height in pixels of a display of
/// 96 dots per inch: in steps of 0.1, so that all of it has about the same place in windows of all sizes.
float presentation_scale(float height);

/// The width that the lessons take from the right edge, the margin included; 0 while none is shown.
float lesson_width(const ViewStatus& view);

/// Whether the lessons leave too little room beside them for the legend, which is then below them.
bool legend_below_lesson(const ViewStatus& view);

}  // namespace orrery
