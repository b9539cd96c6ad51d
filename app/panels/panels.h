#pragma once

#include "app/panels/panel_state.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Draws everything that lies over the picture, between ImGui::NewFrame and ImGui::Render, and appends what the user
/// asked for. Looks at values only: what it shows is what `status` and `view` say, and what `state` remembers.
void draw_panels(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// The width that the side column takes from the left edge, its margins included; 0 while it is hidden: also in a
/// window under least_window.
float side_column_width(const ViewStatus& view);

}  // namespace orrery
