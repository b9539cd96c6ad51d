#include "app/viewer/input_queue.h"

#include <GLFW/glfw3.h>

namespace orrery {
namespace {

using What = InputEvent::What;

bool is_shift(int key) {
  return key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT;
}

/// Shift, Ctrl, Alt, Super, at the left and at the right.
bool is_modifier(int key) {
  return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

}  // namespace

void InputQueue::add_key(int key, int scancode, int action, int modifiers, const char* name) {
  InputEvent event{.what = What::key, .code = key, .action = action, .scancode = scancode, .modifiers = modifiers};
  shift_ = (modifiers & GLFW_MOD_SHIFT) != 0;
  repeated_ = action == GLFW_REPEAT;
  if (action != GLFW_RELEASE) {
    const bool control = (modifiers & GLFW_MOD_CONTROL) != 0 && name;  // Ctrl gives no character
    event.press = control
                      ? KeyPress{.character = static_cast<unsigned char>(*name), .repeated = repeated_, .control = true}
                      : KeyPress{.key = key, .repeated = repeated_};
  }
  events_.push_back(event);
}

void InputQueue::add_character(unsigned character) {
  events_.push_back({.what = What::character,
                     .code = static_cast<int>(character),
                     .press = typed_press(static_cast<char32_t>(character), shift_, repeated_)});
}

void InputQueue::add_button(int button, int action, int modifiers, double x, double y) {
  events_.push_back({.what = What::button, .code = button, .action = action, .modifiers = modifiers, .x = x, .y = y});
}

/// Whether the first event does something that an event after it could undo or precede: a button, or a key that types
/// nothing, such as Backspace. GLFW reports a character right after the key that types it.
bool InputQueue::ends_part() const {
  const InputEvent& event = events_.front();
  if (event.what == What::button) return true;
  if (event.what == What::character || event.action != GLFW_PRESS || is_modifier(event.code)) return false;
  return events_.size() < 2 || events_[1].what != What::character;
}

/// Whether characters and releases before the first event need a layout of their own: Ctrl and Alt would turn the
/// characters into commands, and a key that is pressed again would never be seen released.
bool InputQueue::begins_part() const {
  const InputEvent& event = events_.front();
  const bool modifies = event.what == What::key && event.action == GLFW_PRESS && is_modifier(event.code);
  return ends_part() || (modifies && !is_shift(event.code));
}

std::vector<InputEvent> InputQueue::take_part() {
  std::vector<InputEvent> part;
  bool earlier = false;  // something that the next event may have to wait for
  while (!events_.empty() && !(earlier && begins_part())) {
    const bool last = ends_part();
    earlier |= events_.front().what == What::character || events_.front().action == GLFW_RELEASE;
    part.push_back(events_.front());
    events_.pop_front();
    if (last) break;
  }
  return part;
}

}  // namespace orrery
