#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/text/table.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {

/// A key press: the character in the keyboard's layout, or a GLFW key if it types none.
struct KeyPress {
  char32_t character = 0;  ///< 0 if the key types nothing
  int key = 0;             ///< GLFW_KEY_*; 0 if there is a character
  bool repeated = false;   ///< repeated by the keyboard while the key is held down
  bool control = false;    ///< Ctrl is held down; `character` is then lower case
  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// Returns the key press that typed `character`. Ignores Caps Lock: `shift` decides the case of a letter.
KeyPress typed_press(char32_t character, bool shift, bool repeated);
/// Returns whether a text field being edited takes the key. It takes all but F1 to F25.
bool belongs_to_text(const KeyPress& press);

/// One row of the table of keys.
struct KeyBinding {
  std::vector<KeyPress> presses;
  const char* keys;    ///< text in the list of keys
  const char* action;  ///< description of at most 36 letters, so that the list of keys does not cover the picture
  /// Returns the key's request; none if the key has no effect now, such as Esc with nothing to close.
  std::optional<Request> (*request)(const Status& status, const ViewStatus& view);
  bool repeats = false;         ///< acts repeatedly while the key is held down
  const char* group = nullptr;  ///< heading that starts with this row; null: the heading of the previous row
};

std::span<const KeyBinding> key_bindings();
std::optional<Request> request_for(KeyPress press, const Status& status, const ViewStatus& view);
/// Returns the list of keys and mouse actions.
std::vector<KeyHelp> key_help();
/// Returns what `orrery help keys` prints.
std::string key_table(const TextStyle& style);

}  // namespace orrery
