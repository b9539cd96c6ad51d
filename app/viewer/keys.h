#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {

/// A key as the user means it: the character that the keyboard's layout gives it, or a GLFW key where there is none.
struct KeyPress {
  char32_t character = 0;  ///< 0 for a key that types nothing
  int key = 0;             ///< GLFW_KEY_*; 0 where `character` says it
  bool repeated = false;   ///< by the keyboard, because the key is held down
  bool control = false;    ///< Ctrl is held down; `character` is then a small letter
  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// A press that typed `character`. Whether Caps Lock is on makes no difference: the case of a letter says `shift`.
KeyPress typed_press(char32_t character, bool shift, bool repeated);
/// Whether a text field that is being edited makes use of the key: not of F1 to F25.
bool belongs_to_text(const KeyPress& press);

/// One row of the table that says what keys do: what the user reads and what the viewer is asked.
struct KeyBinding {
  std::vector<KeyPress> presses;
  const char* keys;  ///< as the key list shows them
  const char* action;
  /// Nothing where the key has no meaning at present, such as Esc with nothing to leave.
  std::optional<Request> (*request)(const Status& status, const ViewStatus& view);
  bool repeats = false;  ///< goes on while the key is held down
};

std::span<const KeyBinding> key_bindings();
std::optional<Request> request_for(KeyPress press, const Status& status, const ViewStatus& view);
/// The key list of the help overlay, and what the mouse does.
std::vector<KeyHelp> key_help();

}  // namespace orrery
