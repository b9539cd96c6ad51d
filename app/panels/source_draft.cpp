#include "app/panels/source_draft.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <vector>

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

/// As ImGui's editor gives the text back: its characters have 16 bits.
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
    keep_edits(workshop.text, draft);  // of the time since
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

}  // namespace orrery
