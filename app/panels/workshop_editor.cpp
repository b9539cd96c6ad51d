#include "app/panels/workshop_editor.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <optional>

#include "app/panels/kit/theme.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;

constexpr float number_width = 2.6f;  // em

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
}

/// What stands at the line: errors before warnings.
const WorkshopMessage* message_at(std::span<const WorkshopMessage> messages, int line) {
  const auto found = std::ranges::find(messages, line, &WorkshopMessage::line);
  return found == messages.end() ? nullptr : &*found;
}

/// The numbers of the visible lines and the marks of messages; `low` is the first line's corner.
void draw_lines(std::span<const WorkshopMessage> messages, int lines, ImVec2 low) {
  const float height = ImGui::GetTextLineHeight(), top = ImGui::GetScrollY();
  const int first = std::max(0, static_cast<int>(top / height) - 1);
  const int last = std::min(lines, first + static_cast<int>(ImGui::GetWindowHeight() / height) + 3);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  for (int line = first; line < last; ++line) {
    const float y = low.y + height * static_cast<float>(line);
    const WorkshopMessage* const message = message_at(messages, line + 1);
    const ImU32 colour = !message ? theme::dim : message->is_error ? theme::bad : theme::warn;
    const std::string number = std::to_string(line + 1);
    const float right = low.x + em(number_width - 0.5f);
    draw.AddText({right - ImGui::CalcTextSize(number.c_str()).x, y}, colour, number.c_str());
    if (!message) continue;
    const ImVec2 end{low.x + ImGui::GetWindowWidth(), y + height};
    draw.AddRectFilled({low.x, y}, end, theme::faded(colour, 0.16f));
    if (ImGui::IsMouseHoveringRect({low.x, y}, end) && ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) {
      show_tooltip(fmt::format("line {}: {}", message->line, message->text));
    }
  }
}

/// While the editor has the keyboard, ImGui edits a copy of its own.
struct Editing {
  int cursor_line = -1;
  const std::string* replacement = nullptr;  // of that copy
};

int follow_editing(ImGuiInputTextCallbackData* data) {
  Editing& editing = *static_cast<Editing*>(data->UserData);
  if (editing.replacement) {
    const std::string text = *editing.replacement;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, text.data(), text.data() + text.size());
    data->CursorPos = 0;
    data->ClearSelection();
  }
  const char* const begin = data->Buf;
  editing.cursor_line = static_cast<int>(std::count(begin, begin + data->CursorPos, '\n'));
  return 0;
}

void follow_cursor(int line, float text_top) {
  const float height = ImGui::GetTextLineHeight(), y = text_top + height * static_cast<float>(line);
  const float top = ImGui::GetScrollY(), room = ImGui::GetWindowHeight() - 2 * height;
  if (y < top) ImGui::SetScrollY(y);
  if (y > top + room) ImGui::SetScrollY(y - room);
}

bool escape_pressed() {
  return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
}

/// An editor without a scroll bar of its own, as high as its text or higher, in a window that scrolls.
void source_box(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                ImGuiInputTextFlags flags, EditorState& state) {
  ImGui::PushID(id);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ImGui::GetStyleColorVec4(ImGuiCol_FrameBg));
  ImGui::BeginChild("text", {0, height}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 padding = ImGui::GetStyle().FramePadding, low = ImGui::GetCursorScreenPos();
  const float own_top = ImGui::GetCursorPosY() + padding.y;
  const int lines = lines_in(text);
  const float text_height = ImGui::GetTextLineHeight() * static_cast<float>(lines + 1) + 2 * padding.y;
  const float needed = std::max(text_height, ImGui::GetContentRegionAvail().y);  // a click below the text edits it, too
  draw_lines(messages, lines, {low.x, low.y + padding.y});
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(number_width));
  Editing editing{.replacement = text == state.shown ? nullptr : &text};
  const std::optional<std::string> kept = escape_pressed() ? std::optional{text} : std::nullopt;
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{});
  ImGui::InputTextMultiline("##source", &text, {std::max(em(20), ImGui::GetContentRegionAvail().x), needed},
                            flags | ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoHorizontalScroll,
                            follow_editing, &editing);
  ImGui::PopStyleColor();
  if (kept && text != *kept) text = *kept;  // ImGui takes Esc for an undo of all edits
  const int line = editing.cursor_line;
  if (line >= 0 && state.cursor_line >= 0 && line != state.cursor_line) follow_cursor(line, own_top);
  state.cursor_line = line;
  if (text != state.shown) state.shown = text;
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ui_mark(id);
  ImGui::PopID();
}

}  // namespace

void source_editor(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                   EditorState& state) {
  source_box(id, text, messages, height, ImGuiInputTextFlags_AllowTabInput, state);
}

void source_viewer(const char* id, const std::string& text, std::span<const WorkshopMessage> messages, float height) {
  std::string copy = text;
  EditorState state{.shown = text};
  source_box(id, copy, messages, height, ImGuiInputTextFlags_ReadOnly, state);
}

}  // namespace orrery
