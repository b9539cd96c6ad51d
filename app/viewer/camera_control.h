#pragma once

#include <vector>

#include "app/ui_state/status.h"
#include "render/camera.h"

struct ImGuiIO;

namespace orrery {

/// Moves the camera by this frame's mouse input, unless it belongs to a panel: left drag orbits, right or middle drag
/// or shift and left drag pans, the wheel zooms. Returns whether the user double-clicked the picture, which means:
/// frame all.
bool control_camera(render::OrbitCamera& camera, const ImGuiIO& io);

/// The same in words, for the help overlay.
std::vector<KeyHelp> mouse_help();

}  // namespace orrery
