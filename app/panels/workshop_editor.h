#pragma once

#include <span>
#include <string>

#include "app/ui_state/workshop_status.h"

namespace orrery {

/// What an editor keeps between frames.
struct EditorState {
  int cursor_line = -1;  ///< in the last frame, from 0; -1: not known
  std::string shown;     ///< the text after the last frame: if it is another one now, the program has changed it
};

/// The text of a file with the numbers of its lines, marked as `id`; lines with messages are marked, and explain
/// themselves under the mouse. It follows the cursor.
void source_editor(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                   EditorState& state);
/// The same for reading.
void source_viewer(const char* id, const std::string& text, std::span<const WorkshopMessage> messages, float height);

}  // namespace orrery
