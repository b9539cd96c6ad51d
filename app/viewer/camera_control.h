#pragma once

#include <optional>
#include <vector>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

struct ImGuiIO;

namespace orrery {

/// Where the keys that are down fly: -1, 0 or 1 along each axis.
struct HeldKeys {
  int right = 0, up = 0, forward = 0;
};
/// Of the present ImGui context.
HeldKeys held_keys();

/// What the mouse and keys ask of the camera.
class CameraControl {
 public:
  /// What this frame's input asks for, unless it belongs to a panel: a left or middle drag orbits, a right drag pans,
  /// and so does Shift with any; the wheel zooms to the pointer; a click picks a body; a double click frames all
  /// bodies; arrow keys that are down fly. `picked` is the body that is picked now: that of before a double click stays
  /// so.
  Requests requests(const ImGuiIO& io, const HeldKeys& held, std::optional<int> picked);

 private:
  void follow_clicks(const ImGuiIO& io, std::optional<int> picked, Requests& requests);

  std::optional<Request> before_click_;  // picks what was picked before the latest click; none: that picked nothing
};

/// The same in words, for the list of keys.
std::vector<KeyHelp> mouse_help();

}  // namespace orrery
