#include "app/viewer/camera_control.h"

#include <imgui.h>

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

/// Whether the left button was released where it was pressed: once, and not over a panel.
bool clicked(const ImGuiIO& io) {
  constexpr int left = ImGuiMouseButton_Left;
  return io.MouseReleased[left] && !io.MouseDownOwned[left] && io.MouseClickedLastCount[left] <= 1 &&
         io.MouseDragMaxDistanceSqr[left] < io.MouseDragThreshold * io.MouseDragThreshold && !io.KeyShift;
}

bool is_down(const ImGuiIO& io, ImGuiKey key) {
  return io.KeysData[key - ImGuiKey_KeysData_OFFSET].Down;
}

/// What the arrow keys ask for while they are held down.
std::optional<FlyView> flight(const ImGuiIO& io) {
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return std::nullopt;
  const auto between = [&](ImGuiKey less, ImGuiKey more) {
    return static_cast<float>(is_down(io, more) - is_down(io, less));
  };
  const float distance = FlyView::per_s * (io.KeyShift ? FlyView::fast : 1) * std::min(io.DeltaTime, 0.1f);
  const FlyView flight{distance * between(ImGuiKey_LeftArrow, ImGuiKey_RightArrow),
                       distance * between(ImGuiKey_PageDown, ImGuiKey_PageUp),
                       distance * between(ImGuiKey_DownArrow, ImGuiKey_UpArrow)};
  if (flight.right == 0 && flight.up == 0 && flight.forward == 0) return std::nullopt;
  return flight;
}

Requests mouse_requests(const ImGuiIO& io) {
  if (io.WantCaptureMouse || !(io.DisplaySize.x > 0) || !(io.DisplaySize.y > 0)) return {};
  Requests requests;
  const float right = io.MouseDelta.x / io.DisplaySize.y, up = -io.MouseDelta.y / io.DisplaySize.y;
  const bool moved = right != 0 || up != 0;
  const bool turning = io.MouseDown[ImGuiMouseButton_Left] || io.MouseDown[ImGuiMouseButton_Middle];
  if (io.MouseDown[ImGuiMouseButton_Right] || (turning && io.KeyShift)) {
    if (moved) requests.push_back(ViewCommand{PanView{right, up}});
  } else if (turning && moved) {
    requests.push_back(ViewCommand{OrbitView{right, up}});
  }
  const float x = io.MousePos.x / io.DisplaySize.x, y = io.MousePos.y / io.DisplaySize.y;
  const bool inside = PickAt::shares.contains(x) && PickAt::shares.contains(y);
  if (io.MouseWheel != 0) {
    requests.push_back(ViewCommand{inside ? ZoomView{io.MouseWheel, x, y} : ZoomView{io.MouseWheel}});
  }
  if (inside && clicked(io)) requests.push_back(ViewCommand{PickAt{x, y}});
  if (io.MouseDoubleClicked[ImGuiMouseButton_Left]) requests.push_back(ViewCommand{FrameAll{}});
  return requests;
}

}  // namespace

Requests camera_requests(const ImGuiIO& io) {
  Requests requests = mouse_requests(io);
  if (const auto flown = flight(io)) requests.push_back(*flown);
  return requests;
}

std::vector<KeyHelp> mouse_help() {
  return {{"Click", "Picks the body under the pointer; elsewhere: picks none.", "Camera"},
          {"Drag, middle drag", "Turns the camera about its target."},
          {"Right drag, Shift+drag", row_of<PanView>.sentence},
          {"Arrows, PageUp, PageDown", "Flies while held down; with Shift four times as fast."},
          {"Wheel", "Moves the camera nearer to what is under the pointer, or farther."},
          {"Double click", row_of<FrameAll>.sentence}};
}

}  // namespace orrery
