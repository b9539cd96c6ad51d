#include "app/viewer/camera_control.h"

#include <imgui.h>

namespace orrery {

Requests camera_requests(const ImGuiIO& io) {
  if (io.WantCaptureMouse || !(io.DisplaySize.y > 0)) return {};
  Requests requests;
  const float right = io.MouseDelta.x / io.DisplaySize.y, up = -io.MouseDelta.y / io.DisplaySize.y;
  const bool moved = right != 0 || up != 0;
  const bool left = io.MouseDown[ImGuiMouseButton_Left];
  if (io.MouseDown[ImGuiMouseButton_Right] || io.MouseDown[ImGuiMouseButton_Middle] || (left && io.KeyShift)) {
    if (moved) requests.push_back(ViewCommand{PanView{right, up}});
  } else if (left && moved) {
    requests.push_back(ViewCommand{OrbitView{right, up}});
  }
  if (io.MouseWheel != 0) requests.push_back(ViewCommand{ZoomView{io.MouseWheel}});
  if (io.MouseDoubleClicked[ImGuiMouseButton_Left]) requests.push_back(ViewCommand{FrameAll{}});
  return requests;
}

std::vector<KeyHelp> mouse_help() {
  return {{"Drag", "Turns the camera about its target.", "Camera"},
          {"Right drag, Shift+drag", row_of<PanView>().sentence},
          {"Wheel", "Moves the camera nearer or farther."},
          {"Double click", row_of<FrameAll>().sentence}};
}

}  // namespace orrery
