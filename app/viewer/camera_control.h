#pragma once

#include <vector>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

struct ImGuiIO;

namespace orrery {

/// What this frame's input asks of the camera, unless it belongs to a panel: a left or middle drag orbits, a right drag
/// pans, and so does Shift with any; the wheel zooms to the pointer; a click picks a body; a double click frames all
/// bodies; arrow keys that are down fly.
Requests camera_requests(const ImGuiIO& io);

/// The same in words, for the list of keys.
std::vector<KeyHelp> mouse_help();

}  // namespace orrery
