#include "app/viewer/camera_control.h"

#include <imgui.h>

namespace orrery {

bool control_camera(render::OrbitCamera& camera, const ImGuiIO& io) {
  if (io.WantCaptureMouse || !(io.DisplaySize.y > 0)) return false;
  const glm::vec2 drag = glm::vec2{io.MouseDelta.x, io.MouseDelta.y} / io.DisplaySize.y;
  const bool left = io.MouseDown[ImGuiMouseButton_Left];
  if (io.MouseDown[ImGuiMouseButton_Right] || io.MouseDown[ImGuiMouseButton_Middle] || (left && io.KeyShift)) {
    camera.pan(drag);
  } else if (left) {
    camera.orbit(drag);
  }
  if (io.MouseWheel != 0) camera.zoom(io.MouseWheel);
  return io.MouseDoubleClicked[ImGuiMouseButton_Left];
}

std::vector<KeyHelp> mouse_help() {
  return {{"Drag", "turn the view"},
          {"Right drag, Shift+drag", "move the view"},
          {"Wheel", "nearer or farther"},
          {"Double click", "frame all bodies"}};
}

}  // namespace orrery
