#include "app/viewer/camera_control.h"

#include <imgui.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace orrery {
namespace {

/// Whether the left button was released where it was pressed: once, and not over a panel. ImGui's distance of a drag
/// leaves out the movement in the frame of the release, which is the whole drag if frames are slow.
bool clicked(const ImGuiIO& io) {
  constexpr int left = ImGuiMouseButton_Left;
  const float x = io.MousePos.x - io.MouseClickedPos[left].x, y = io.MousePos.y - io.MouseClickedPos[left].y;
  const float moved_sqr = std::max(io.MouseDragMaxDistanceSqr[left], x * x + y * y);
  return io.MouseReleased[left] && !io.MouseDownOwned[left] && io.MouseClickedLastCount[left] <= 1 &&
         moved_sqr < io.MouseDragThreshold * io.MouseDragThreshold && !io.KeyShift;
}

std::optional<FlyView> flight(const ImGuiIO& io, const HeldKeys& held) {
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return std::nullopt;
  if (held.right == 0 && held.up == 0 && held.forward == 0) return std::nullopt;
  const float distance = FlyView::per_s * (io.KeyShift ? FlyView::fast : 1) * std::min(io.DeltaTime, 0.1f);
  return FlyView{distance * static_cast<float>(held.right), distance * static_cast<float>(held.up),
                 distance * static_cast<float>(held.forward)};
}

/// Whether the mouse is over the picture, which has an area.
bool is_over_picture(const ImGuiIO& io) {
  return !io.WantCaptureMouse && io.DisplaySize.x > 0 && io.DisplaySize.y > 0;
}

/// The pointer's, in shares of the window; none beyond it.
std::optional<PickAt> place_of(const ImGuiIO& io) {
  const PickAt place{io.MousePos.x / io.DisplaySize.x, io.MousePos.y / io.DisplaySize.y};
  const bool inside = PickAt::shares.contains(place.x) && PickAt::shares.contains(place.y);
  return inside ? std::optional{place} : std::nullopt;
}

Requests mouse_requests(const ImGuiIO& io) {
  Requests requests;
  const float right = io.MouseDelta.x / io.DisplaySize.y, up = -io.MouseDelta.y / io.DisplaySize.y;
  const bool moved = right != 0 || up != 0;
  const bool turning = io.MouseDown[ImGuiMouseButton_Left] || io.MouseDown[ImGuiMouseButton_Middle];
  if (io.MouseDown[ImGuiMouseButton_Right] || (turning && io.KeyShift)) {
    if (moved) requests.push_back(ViewCommand{PanView{right, up}});
  } else if (turning && moved) {
    requests.push_back(ViewCommand{OrbitView{right, up}});
  }
  if (io.MouseWheel != 0) {
    const auto at = place_of(io);
    requests.push_back(ViewCommand{at ? ZoomView{io.MouseWheel, at->x, at->y} : ZoomView{io.MouseWheel}});
  }
  return requests;
}

}  // namespace

HeldKeys held_keys() {
  const auto between = [](ImGuiKey less, ImGuiKey more) {
    const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)); };
    return int{down(more)} - int{down(less)};
  };
  return {between(ImGuiKey_LeftArrow, ImGuiKey_RightArrow), between(ImGuiKey_PageDown, ImGuiKey_PageUp),
          between(ImGuiKey_DownArrow, ImGuiKey_UpArrow)};
}

/// A click picks at once, since the bodies move. The second click of a double click takes that back.
void CameraControl::follow_clicks(const ImGuiIO& io, std::optional<int> picked, Requests& requests) {
  if (io.MouseClicked[ImGuiMouseButton_Left] && !io.MouseDoubleClicked[ImGuiMouseButton_Left]) before_click_.reset();
  if (!is_over_picture(io)) return;
  if (const auto place = place_of(io); place && clicked(io)) {
    before_click_ = picked ? ViewCommand{PickBody{*picked}} : ViewCommand{Unpick{}};
    requests.push_back(ViewCommand{*place});
  }
  if (!io.MouseDoubleClicked[ImGuiMouseButton_Left]) return;
  if (before_click_) requests.push_back(*std::exchange(before_click_, {}));
  requests.push_back(ViewCommand{FrameAll{}});
}

Requests CameraControl::requests(const ImGuiIO& io, const HeldKeys& held, std::optional<int> picked) {
  Requests requests = is_over_picture(io) ? mouse_requests(io) : Requests{};
  follow_clicks(io, picked, requests);
  if (const auto flown = flight(io, held)) requests.push_back(*flown);
  return requests;
}

std::vector<KeyHelp> mouse_help() {
  return {{"Click", "Picks a body, or none.", "Camera"},
          {"Drag, middle drag", "Turns the camera."},
          {"Right drag, Shift+drag", "Moves the picture."},
          {"Arrows, PgUp, PgDn", "Flies; with Shift, faster."},
          {"Wheel", "Zooms at the pointer."},
          {"Double click", "Shows all bodies."}};
}

}  // namespace orrery
