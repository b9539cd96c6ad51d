#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/text/table.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {

/// A key: the character that the keyboard's layout gives it, or a GLFW key if there is none.
struct KeyPress {
  char32_t character = 0;  ///< 0 for a key that types nothing
  int key = 0;             ///< GLFW_KEY_*; 0 if there is a character
  bool repeated = false;   ///< the keyboard repeats it because the key is held down
  bool control = false;    ///< Ctrl is held down; `character` is then a small letter
  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// Returns the press that typed `character`. Caps Lock makes no difference: `shift` decides the case of a letter.
KeyPress typed_press(char32_t character, bool shift, bool repeated);
/// Whether a text field that is being edited takes the key. It does not take F1 to F25.
bool belongs_to_text(const KeyPress& press);

/// One row of the table of keys.
struct KeyBinding {
  std::vector<KeyPress> presses;
  const char* keys;    ///< as the key list shows them
  const char* action;  ///< in at most 36 letters, so that the list of keys leaves the picture free
  /// Empty if the key has no meaning now, such as Esc with nothing to close.
  std::optional<Request> (*request)(const Status& status, const ViewStatus& view);
  bool repeats = false;         ///< again and again while the key is held down
  const char* group = nullptr;  ///< the heading that begins with this row of the table; null: that of the row before
};

std::span<const KeyBinding> key_bindings();
std::optional<Request> request_for(KeyPress press, const Status& status, const ViewStatus& view);
/// Returns the list of keys, and what the mouse does.
std::vector<KeyHelp> key_help();
/// Returns what `orrery help keys` prints.
std::string key_table(const TextStyle& style);

}  // namespace orrery
