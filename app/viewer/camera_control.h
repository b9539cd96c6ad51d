#pragma once

#include <vector>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

struct ImGuiIO;

namespace orrery {

/// What this frame's mouse input asks of the camera, unless it belongs to a panel: left drag orbits; right drag, middle
/// drag, or Shift and left drag pans; the wheel zooms; a double click frames all bodies.
Requests camera_requests(const ImGuiIO& io);

/// The same in words, for the list of keys.
std::vector<KeyHelp> mouse_help();

}  // namespace orrery
