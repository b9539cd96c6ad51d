#pragma once

#include <span>
#include <string>

#include "app/ui_state/workshop_status.h"

namespace orrery {

/// The text of a file with the numbers of its lines, marked as `id`; lines with messages are marked, and explain
/// themselves under the mouse. It follows the cursor, whose line is kept in `cursor_line`. Whether the text was edited.
bool source_editor(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                   int& cursor_line);
/// The same for reading.
void source_viewer(const char* id, const std::string& text, float height);

}  // namespace orrery
