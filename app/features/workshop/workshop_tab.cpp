#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/features/workshop/workshop.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/theme.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {
namespace {

constexpr std::string_view long_end = "\r\n";

std::string replaced(std::string_view text, std::string_view old, std::string_view by) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find(old, at), text.size());
    result += text.substr(at, next - at);
    if (next < text.size()) result += by;
    at = next + old.size();
  }
  return result;
}

std::string editor_text(const std::string& text) {
  return replaced(text, long_end, "\n");
}

/// Returns the text after conversion to the editor's 16-bit characters and back. Other characters are lost.
std::string through_editor(const std::string& text) {
  std::vector<ImWchar> characters(text.size() + 1);
  const int count =
      ImTextStrFromUtf8(characters.data(), static_cast<int>(characters.size()), text.data(), text.data() + text.size());
  std::string back(3 * static_cast<std::size_t>(count) + 1, '\0');
  back.resize(static_cast<std::size_t>(
      ImTextStrToUtf8(back.data(), static_cast<int>(back.size()), characters.data(), characters.data() + count)));
  return back;
}

}  // namespace

std::string why_not_editable(const std::string& text) {
  const std::string back = through_editor(text);
  if (back != text) {
    const auto damaged = std::mismatch(text.begin(), text.end(), back.begin(), back.end()).first;
    return fmt::format("line {} has a character that this editor cannot hold",
                       1 + std::count(text.begin(), damaged, '\n'));
  }
  const bool one_way = text.find('\r') == std::string::npos || replaced(editor_text(text), "\n", long_end) == text;
  return one_way ? "" : "its lines end in more than one way";
}

void follow_file(const WorkshopStatus& workshop, SourceDraft& draft) {
  const bool unread = workshop.versions.empty();
  if (unread || draft.text_number == workshop.text_number) return;
  draft.text_number = workshop.text_number;
  if (!unsaved(draft) || draft.text == editor_text(workshop.text)) {
    take_file_text(workshop.text, draft);
  } else if (workshop.text == draft.asked) {
    keep_edits(workshop.text, draft);  // edits since the save
  } else {
    draft.changed_on_disk = workshop.text != draft.base;
  }
}

void take_file_text(const std::string& text, SourceDraft& draft) {
  draft.locked = why_not_editable(text);
  draft.text = draft.locked.empty() ? editor_text(text) : text;
  draft.base = text;
  draft.changed_on_disk = false;
}

void keep_edits(const std::string& text, SourceDraft& draft) {
  draft.base = text;
  draft.changed_on_disk = false;
}

bool unsaved(const SourceDraft& draft) {
  return file_text(draft) != draft.base;
}

std::string file_text(const SourceDraft& draft) {
  if (!draft.locked.empty()) return draft.base;
  return draft.base.find(long_end) == std::string::npos ? draft.text : replaced(draft.text, "\n", long_end);
}
namespace {

using theme::em;

constexpr float number_width = 2.6f;  // width of the line numbers, in em

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
}

/// Returns the first message about the line, errors before warnings; null if there is none.
const WorkshopMessage* message_at(std::span<const WorkshopMessage> messages, int line) {
  const auto found = std::ranges::find(messages, line, &WorkshopMessage::line);
  return found == messages.end() ? nullptr : &*found;
}

/// Draws the numbers of the visible lines and the marks of messages. `low` is the upper left corner of the first line.
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

/// Data for follow_editing(). While the editor has the keyboard, ImGui edits its own copy of the text.
struct Editing {
  int cursor_line = -1;
  const std::string* replacement = nullptr;  // new text for that copy; null: keep it
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
  return ImGui::IsKeyPressed(key_index(ImGuiKey_Escape));
}

/// Draws an editor, at least as high as its text, in a child window that scrolls.
void source_box(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                ImGuiInputTextFlags flags, EditorState& state) {
  ImGui::PushID(id);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ImGui::GetStyleColorVec4(ImGuiCol_FrameBg));
  ImGui::BeginChild("text", {0, height}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 padding = ImGui::GetStyle().FramePadding, low = ImGui::GetCursorScreenPos();
  const float own_top = ImGui::GetCursorPosY() + padding.y;
  const int lines = lines_in(text);
  const float text_height = ImGui::GetTextLineHeight() * static_cast<float>(lines + 1) + 2 * padding.y;
  const float needed = std::max(text_height, ImGui::GetContentRegionAvail().y);  // a click below the text also edits it
  draw_lines(messages, lines, {low.x, low.y + padding.y});
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(number_width));
  Editing editing{.replacement = text == state.shown ? nullptr : &text};
  const std::optional<std::string> kept = escape_pressed() ? std::optional{text} : std::nullopt;
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{});
  ImGui::InputTextMultiline("##source", &text, {std::max(em(20), ImGui::GetContentRegionAvail().x), needed},
                            flags | ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoHorizontalScroll,
                            follow_editing, &editing);
  ImGui::PopStyleColor();
  if (kept && text != *kept) text = *kept;  // ImGui undoes all edits on Esc
  const int line = editing.cursor_line;
  if (line >= 0 && state.cursor_line >= 0 && line != state.cursor_line) follow_cursor(line, own_top);
  state.cursor_line = line;
  if (text != state.shown) state.shown = text;
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ui_mark(id);
  ImGui::PopID();
}

/// Draws an editor for the text of a file, with line numbers. Lines with messages are highlighted, and show them under
/// the mouse. Scrolls with the cursor. Test mark: `id`.
void source_editor(const char* id, std::string& text, std::span<const WorkshopMessage> messages, float height,
                   EditorState& state) {
  source_box(id, text, messages, height, ImGuiInputTextFlags_AllowTabInput, state);
}

/// Draws the text of a file like source_editor(), but read-only.
void source_viewer(const char* id, const std::string& text, std::span<const WorkshopMessage> messages, float height) {
  std::string copy = text;
  EditorState state{.shown = text};
  source_box(id, copy, messages, height, ImGuiInputTextFlags_ReadOnly, state);
}

struct StateWords {
  const char* title;
  ImU32 colour;
};

StateWords words_of(const WorkshopStatus& workshop) {
  switch (workshop.state) {
    case WorkshopState::compiling:
      return {"compiling", theme::warn};
    case WorkshopState::checking:
      return {"checking against the fp64 sum", theme::warn};
    case WorkshopState::running:
      return {"correct", theme::good};
    case WorkshopState::unchecked:
      return {"compiles; not checked here", theme::text};
    case WorkshopState::rejected:
      return {"rejected", theme::bad};
    default:
      return {"no file", theme::dim};
  }
}

bool is_path(const std::string& entry) {
  return entry.find_first_of("./") != std::string::npos;
}

void file_row(WorkshopDraft& draft, Requests& out) {
  const float room = ImGui::GetContentRegionAvail().x, gap = ImGui::GetStyle().ItemSpacing.x, button = em(4);
  ImGui::SetNextItemWidth(room - button - gap);
  const bool entered = text_field("workshop.file", "FILE.cu, or a new name", draft.file);
  ImGui::SameLine();
  const bool opens = is_path(draft.file);
  const bool pressed = ImGui::Button(opens ? "Open" : "New", {button, 0});
  ui_mark("workshop.open");
  tooltip(opens ? "Opens this file: it is compiled and checked whenever it is saved."
                : "Writes a new kernel file of this name, and opens it.");
  if (!(entered || pressed) || draft.file.empty()) return;
  if (opens) {
    out.push_back(OpenKernelFile{path_of(draft.file)});
  } else {
    out.push_back(NewKernelFile{draft.file, ""});
  }
}

void state_lines(const WorkshopStatus& workshop) {
  const StateWords words = words_of(workshop);
  text(words.title, words.colour, theme::Font::strong);
  ui_mark("workshop.state");
  if (!workshop.file.empty()) {
    ImGui::SameLine();
    text(shortened(workshop.file, ImGui::GetContentRegionAvail().x), theme::dim);
    tooltip(workshop.file);
  }
  const int latest = static_cast<int>(workshop.versions.size());
  if (workshop.running > 0 && (workshop.running < latest || workshop.state != WorkshopState::running)) {
    text(fmt::format("version {} goes on", workshop.running), theme::dim, theme::Font::small);
  }
  if (!workshop.unavailable.empty()) wrapped_text(workshop.unavailable, theme::warn, theme::Font::small);
}

/// Draws the choice between the edits and a new text of the file, written by another program or *bring back*.
void choice_of_texts(const WorkshopStatus& workshop, SourceDraft& draft) {
  if (!draft.changed_on_disk) return;
  text("changed on disk", theme::warn, theme::Font::small);
  ImGui::SameLine();
  if (ImGui::SmallButton("take it")) take_file_text(workshop.text, draft);
  ui_mark("workshop.take");
  tooltip("Shows the file's text; your edits are lost.");
  ImGui::SameLine();
  if (ImGui::SmallButton("keep mine")) keep_edits(workshop.text, draft);
  ui_mark("workshop.keep");
  tooltip("Keeps your edits; Save then replaces the file's text.");
}

void edit_buttons(const WorkshopStatus& workshop, SourceDraft& draft, Requests& out) {
  const float gap = ImGui::GetStyle().ItemSpacing.x, width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const std::string edited = file_text(draft);
  const bool can_save = !workshop.file.empty() && !draft.changed_on_disk && edited != workshop.text;
  ImGui::BeginDisabled(!can_save);
  const bool save = can_save ? accent_button("Save", {width, 0}) : ImGui::Button("Save", {width, 0});
  ui_mark("workshop.save");
  ImGui::EndDisabled();
  tooltip("Writes the text to the file, compiles and checks it: Ctrl+S.");
  ImGui::SameLine();
  ImGui::BeginDisabled(workshop.file.empty());
  const bool again = ImGui::Button("Compile", {width, 0});
  ui_mark("workshop.compile");
  ImGui::EndDisabled();
  tooltip("Saves your edits, if there are any; compiles and checks the file once more.");
  const bool key = ImGui::GetIO().KeyCtrl && ImGui::IsKeyPressed(letter_key_index('S'), false);
  if (can_save && (save || again || key)) {
    draft.asked = edited;
    out.push_back(SaveKernelFile{edited});
  } else if (again) {
    out.push_back(CompileKernelFile{});
  }
}

/// Draws the errors. Draws warnings only if there are no errors, because most warnings follow from errors.
void message_lines(const WorkshopStatus& workshop) {
  constexpr std::size_t most = 6;
  std::vector<WorkshopMessage> messages = workshop.messages;
  if (std::ranges::any_of(messages, &WorkshopMessage::is_error)) {
    std::erase_if(messages, [](const WorkshopMessage& message) { return !message.is_error; });
  }
  for (std::size_t i = 0; i < std::min(most, messages.size()); ++i) {
    const WorkshopMessage& message = messages[i];
    const std::string place = message.line > 0 ? fmt::format("{}: ", message.line) : "";
    wrapped_text(place + message.text, message.is_error ? theme::bad : theme::warn, theme::Font::small);
  }
  if (messages.size() > most) {
    text(fmt::format("and {} more", messages.size() - most), theme::dim, theme::Font::small);
  }
}

constexpr std::array version_columns{
    Column{"version", 3.2f, "Every text of the file that was saved."},
    Column{"time", 4.4f, "When it was saved."},
    Column{"step", 4.4f, "The best median time of one step with the present system, if this version ran."},
    Column{"error", 4.2f, "The largest error |da|/|a| against the fp64 sum, of all checks."},
    Column{"", 2.2f, "Runs this version; the file stays as it is."},
    Column{"", 4.6f, "Writes this text to the file as its newest version."}};

void version_row(const WorkshopStatus& workshop, const WorkshopVersion& version, Requests& out) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool runs = version.number == workshop.running;
  text(fmt::format("{}{}", version.number, runs ? " \u2022" : ""), runs ? theme::good : theme::text);
  if (runs) tooltip("This version runs.");
  number_cell(version.time, theme::dim);
  if (!version.error.empty()) tooltip(version.error);
  number_cell(version.step_ms ? format_ms(*version.step_ms) : "");
  number_cell(version.largest_error   ? format_error(*version.largest_error)
              : version.error.empty() ? ""
                                      : "rejected",
              version.error.empty() ? theme::text : theme::bad);
  if (const std::string& note = version.error.empty() ? version.remark : version.error; !note.empty()) {
    tooltip(version.error.empty() ? "Checked " + note + "." : note);
  }
  ImGui::TableNextColumn();
  ImGui::PushID(version.number);
  if (!version.kernel.empty() && !runs) {
    if (ImGui::SmallButton("run")) out.push_back(SelectKernel{version.kernel});
    ui_mark("workshop.run", std::to_string(version.number));
    tooltip("Runs this version: the file stays as it is. It can be profiled, and compared with another one.");
  }
  ImGui::TableNextColumn();
  if (ImGui::SmallButton("bring back")) out.push_back(BringKernelBack{version.number});
  ui_mark("workshop.back", std::to_string(version.number));
  ImGui::PopID();
}

void versions_table(const WorkshopStatus& workshop, float height, Requests& out) {
  if (workshop.versions.empty()) return;
  const int rows = static_cast<int>(workshop.versions.size());
  if (!begin_rows("workshop.versions", version_columns, rows, std::max(height, em(5)))) return;
  for (auto version = workshop.versions.rbegin(); version != workshop.versions.rend(); ++version) {
    version_row(workshop, *version, out);
  }
  ImGui::EndTable();
}

const WorkshopSource* shown_source(const WorkshopStatus& workshop, const std::string& id) {
  const auto found = std::ranges::find(workshop.sources, id, &WorkshopSource::kernel_id);
  return found == workshop.sources.end() ? nullptr : &*found;
}

const WorkshopSource::File& shown_file(const WorkshopSource& source, const WorkshopDraft& draft) {
  const auto found = std::ranges::find(source.files, draft.source_file, &WorkshopSource::File::name);
  return found == source.files.end() ? source.files.front() : *found;
}

std::string name_of(const WorkshopSource::File& file) {
  return file.name.substr(file.name.rfind('/') + 1);
}

/// Draws the choice among the source files of a kernel.
void file_choice(const WorkshopSource& source, WorkshopDraft& draft) {
  const WorkshopSource::File& shown = shown_file(source, draft);
  ImGui::SetNextItemWidth(em(13));
  if (begin_combo("workshop.source_file", name_of(shown), ImGuiComboFlags_HeightLarge)) {
    for (const WorkshopSource::File& file : source.files) {
      if (ImGui::Selectable(file.name.c_str(), &file == &shown)) draft.source_file = file.name;
      ui_mark("workshop.source_file", name_of(file));
    }
    ImGui::EndCombo();
  }
  tooltip(fmt::format("{}: one of {} files of this kernel", shown.name, source.files.size()));
}

void start_button(const WorkshopSource& source, WorkshopDraft& draft, Requests& out) {
  const bool starts = source.why_no_start.empty(), named = !draft.file.empty() && !is_path(draft.file);
  ImGui::BeginDisabled(!starts || !named);
  if (ImGui::Button("Start from this")) {
    out.push_back(NewKernelFile{draft.file, source.kernel_id});
    draft.source.clear();
  }
  ui_mark("workshop.start");
  ImGui::EndDisabled();
  tooltip(!starts ? source.why_no_start
          : named ? "Writes a new kernel file with this kernel's device code, and opens it."
                  : "Type a name for the new kernel first, on the left.");
}

/// Draws the choice of the text to show: the user's file, or the source of a built-in kernel.
void source_choice(const WorkshopStatus& workshop, WorkshopDraft& draft, Requests& out) {
  const WorkshopSource* const source = shown_source(workshop, draft.source);
  ImGui::SetNextItemWidth(em(10));
  if (begin_combo("workshop.source", source ? source->kernel_id.c_str() : "your file", ImGuiComboFlags_HeightLarge)) {
    if (ImGui::Selectable("your file", !source)) draft.source.clear();
    for (const WorkshopSource& other : workshop.sources) {
      if (ImGui::Selectable(other.kernel_id.c_str(), &other == source)) draft.source = other.kernel_id;
      ui_mark("workshop.source", other.kernel_id);
    }
    ImGui::EndCombo();
  }
  if (!source) return;
  ImGui::SameLine();
  file_choice(*source, draft);
  ImGui::SameLine();
  start_button(*source, draft, out);
  if (!source->why_no_start.empty()) wrapped_text(source->why_no_start, theme::dim, theme::Font::small);
}

void workshop_content(const Status& /*status*/, const ViewStatus& view, PanelState& state, float height,
                      Requests& out) {
  const WorkshopStatus& workshop = view.features.of<WorkshopStatus>();
  WorkshopDraft& draft = state.lab.drafts.of<WorkshopDraft>();
  SourceDraft& source_draft = draft.sources[workshop.file];
  follow_file(workshop, source_draft);
  const float room = ImGui::GetContentRegionAvail().x, gap = em(0.8f);
  const bool wide = room >= em(50);
  const float column = wide ? em(27.5f) : room, rows = std::max(height, em(13));
  ImGui::BeginChild("file", {column, wide ? rows : em(14)});
  file_row(draft, out);
  state_lines(workshop);
  edit_buttons(workshop, source_draft, out);
  choice_of_texts(workshop, source_draft);
  message_lines(workshop);
  versions_table(workshop, ImGui::GetContentRegionAvail().y, out);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, gap);
  ImGui::BeginChild("source", {wide ? room - column - gap : room, rows});
  source_choice(workshop, draft, out);
  if (const WorkshopSource* const source = shown_source(workshop, draft.source)) {
    const std::string& text = shown_file(*source, draft).text;
    source_viewer("workshop.reader", text, {}, ImGui::GetContentRegionAvail().y);
  } else if (workshop.file.empty()) {
    wrapped_text(
        "A kernel file is CUDA C++ with a header of comment lines and one __global__ function. Open one, or type a "
        "name for a new one. Edit it here or in your own editor: each time it is saved, it is compiled, checked in "
        "another process, and takes the place of its last version in the running system. The list above has the "
        "sources of the built-in kernels.",
        theme::dim);
  } else if (!source_draft.locked.empty()) {
    wrapped_text(source_draft.locked + ": the text can only be read here; edit it in your own editor.", theme::warn,
                 theme::Font::small);
    source_viewer("workshop.locked", source_draft.text, workshop.messages, ImGui::GetContentRegionAvail().y);
  } else {
    source_editor("workshop.editor", source_draft.text, workshop.messages, ImGui::GetContentRegionAvail().y,
                  draft.editor);
  }
  ImGui::EndChild();
}

}  // namespace

const Tab workshop_tab{"Workshop", "Kernels of your own, compiled while the window runs.", workshop_content};

}  // namespace orrery
