#pragma once

#include "app/panels/panel_state.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {
/// Draws all panels over the picture and appends the user's requests to `out`. Call between ImGui::NewFrame and
/// ImGui::Render. Only `state` and `out` are changed.
void draw_panels(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Returns the width of the side column with its margins, in pixels from the left edge; 0 while it is hidden. A window
/// smaller than least_window hides it.
float side_column_width(const ViewStatus& view);

/// Returns the scale of type and widgets for a window of this size, on a display of scale `asked`. Reduced so that the
/// laboratory fits beside the side column, but not below 1 if `asked` >= 1. In steps of 1/8, so that resizing seldom
/// changes the type.
float fitting_scale(float asked, float width, float height);

/// Returns the scale of type and widgets in a presentation, for a window of `height` pixels at 96 dots per inch. In
/// steps of 0.1; proportional to the height, so that the layout is alike in windows of all sizes.
float presentation_scale(float height);

/// Returns the width of the lessons with their margin, in pixels from the right edge; 0 while none is shown.
float lesson_width(const ViewStatus& view);

/// Returns whether the legend is below the lessons, because there is too little room beside them.
bool legend_below_lesson(const ViewStatus& view);

}  // namespace orrery
