#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "app/viewer/keys.h"

namespace orrery {

/// A key, a character or a mouse button, as GLFW reports it.
struct InputEvent {
  enum class What { key, character, button };
  What what = What::key;
  int code = 0;    ///< GLFW_KEY_*, a Unicode code point, or GLFW_MOUSE_BUTTON_*
  int action = 1;  ///< GLFW_PRESS, GLFW_RELEASE or GLFW_REPEAT
  int scancode = 0, modifiers = 0;
  double x = 0, y = 0;              ///< of the pointer, in window coordinates; for buttons
  std::optional<KeyPress> press{};  ///< for the table of keys; none for releases and buttons
};

/// Events that the panels have not seen, in the order in which they came. Many may come during a slow frame, but of one
/// layout, Dear ImGui 1.86 sees all characters before all keys, and only the last state of each key and button. So the
/// events are given to it in parts, with a layout for each.
class InputQueue {
 public:
  /// `name`: of the key on this keyboard, see glfwGetKeyName; null if it has none.
  void add_key(int key, int scancode, int action, int modifiers, const char* name);
  void add_character(unsigned character);
  void add_button(int button, int action, int modifiers, double x, double y);

  bool empty() const { return events_.empty(); }
  /// Removes the first events: as many as one layout sees in their order. Empty if there are none.
  std::vector<InputEvent> take_part();

 private:
  bool ends_part() const;
  bool begins_part() const;

  std::deque<InputEvent> events_;
  bool shift_ = false, repeated_ = false;  // of the latest key, which types the characters that follow
};

}  // namespace orrery
