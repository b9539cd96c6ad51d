#pragma once

#include <span>
#include <string_view>

#include "app/panels/panel_state.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// A tab of the laboratory, listed in app/features/CMakeLists.txt.
struct Tab {
  const char* title;
  const char* notes;  ///< its tooltip
  /// Draws the tab into the current window, about `height` pixels high.
  void (*draw)(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
  /// Draws captions over the picture, in every frame. Returns the lower end of those at the left, in pixels from the
  /// top; 0: no captions. Null if the tab never has any.
  float (*captions)(const ViewStatus& view, const PanelState& state) = nullptr;
};

#define X(tab, id) extern const Tab tab##_tab;
#include "tabs_list.inc"
#undef X

}  // namespace orrery
