#include "app/panels/kit/widgets.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <utility>

#include "app/panels/kit/folds.h"
#include "app/panels/kit/ui_mark.h"

namespace orrery {
namespace {

using theme::em;

ImVec2 size_of(std::string_view content) {
  return ImGui::CalcTextSize(content.data(), content.data() + content.size());
}

/// Whether it is a number, such as "12.3" or "(1,024".
bool reads_as_number(std::string_view word) {
  if (word.starts_with('(') || word.starts_with('-')) word.remove_prefix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !word.empty() && digit(word.front()) && digit(word.back());
}

/// Where the line may be broken first: at a blank that is not behind a number, or at a line's end.
std::size_t end_of_words(std::string_view content) {
  std::size_t begin = 0, end = std::min(content.find_first_of(" \n"), content.size());
  while (end < content.size() && content[end] == ' ' && reads_as_number(content.substr(begin, end - begin))) {
    begin = end + 1;
    end = std::min(content.find_first_of(" \n", begin), content.size());
  }
  return end;
}

/// The beginning of `word`, which is wider than `width` of the present font, that it holds; at least one character.
std::string beginning_of(std::string_view word, float width) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // of UTF-8
  std::size_t one = std::min<std::size_t>(1, word.size());
  while (one < word.size() && continues(word[one])) ++one;
  std::size_t count = std::max(word.size(), one + 1) - 1;
  while (count > one && (continues(word[count]) || size_of(word.substr(0, count)).x > width)) --count;
  return std::string{word.substr(0, count)};
}

Folds* folds_in_use = nullptr;

void draw_icon(ImDrawList& draw, Icon icon, ImVec2 c, float r, ImU32 colour) {
  switch (icon) {
    case Icon::run:
      draw.AddTriangleFilled({c.x - r * 0.7f, c.y - r}, {c.x + r, c.y}, {c.x - r * 0.7f, c.y + r}, colour);
      break;
    case Icon::pause:
      draw.AddRectFilled({c.x - r * 0.8f, c.y - r}, {c.x - r * 0.2f, c.y + r}, colour, r * 0.2f);
      draw.AddRectFilled({c.x + r * 0.2f, c.y - r}, {c.x + r * 0.8f, c.y + r}, colour, r * 0.2f);
      break;
    case Icon::step:
      draw.AddTriangleFilled({c.x - r, c.y - r}, {c.x + r * 0.4f, c.y}, {c.x - r, c.y + r}, colour);
      draw.AddRectFilled({c.x + r * 0.5f, c.y - r}, {c.x + r, c.y + r}, colour, r * 0.2f);
      break;
    case Icon::restart:
      draw.AddRectFilled({c.x - r, c.y - r * 0.9f}, {c.x - r * 0.6f, c.y + r * 0.9f}, colour, r * 0.2f);
      draw.AddTriangleFilled({c.x + r * 0.9f, c.y - r}, {c.x - r * 0.5f, c.y}, {c.x + r * 0.9f, c.y + r}, colour);
      break;
    case Icon::reset:
      draw.PathArcTo(c, r * 0.85f, -0.4f, 4.6f, 20);
      draw.PathStroke(colour, 0, r * 0.35f);
      draw.AddTriangleFilled({c.x - r * 0.1f, c.y - r * 1.4f}, {c.x + r * 0.6f, c.y - r * 0.85f},
                             {c.x - r * 0.1f, c.y - r * 0.25f}, colour);
      break;
    case Icon::record:
      draw.AddCircleFilled(c, r * 0.9f, colour);
      break;
    case Icon::stop:
      draw.AddRectFilled({c.x - r * 0.8f, c.y - r * 0.8f}, {c.x + r * 0.8f, c.y + r * 0.8f}, colour, r * 0.2f);
      break;
  }
}

void draw_chevron(ImDrawList& draw, ImVec2 c, bool down, ImU32 colour) {
  const float r = em(0.26f);
  const std::array<ImVec2, 3> points =
      down ? std::array<ImVec2, 3>{{{c.x - r, c.y - r * 0.5f}, {c.x, c.y + r * 0.5f}, {c.x + r, c.y - r * 0.5f}}}
           : std::array<ImVec2, 3>{{{c.x - r * 0.5f, c.y - r}, {c.x + r * 0.5f, c.y}, {c.x - r * 0.5f, c.y + r}}};
  draw.AddPolyline(points.data(), 3, colour, 0, em(0.11f));
}

}  // namespace

void text(std::string_view content, ImU32 colour, theme::Font font) {
  ImGui::PushFont(theme::font(font));
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(content.data(), content.data() + content.size());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void text_to(float right, std::string_view content, ImU32 colour, theme::Font font) {
  ImGui::PushFont(theme::font(font));
  const float width = size_of(content).x;
  ImGui::PopFont();
  ImGui::SetCursorPosX(right - width);
  text(content, colour, font);
}

std::string in_lines(std::string_view content, float width) {
  std::string lines, line;
  const auto fits = [width](const std::string& words) { return size_of(words).x <= width; };
  const auto add = [&](const auto& self, std::string word) -> void {
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (fits(longer)) {
      line = longer;
      return;
    }
    if (!line.empty()) lines += std::exchange(line, {}) + '\n';
    if (const std::size_t blank = word.find(' '); blank != std::string::npos && !fits(word)) {
      self(self, word.substr(0, blank));
      return self(self, word.substr(blank + 1));
    }
    while (!fits(word)) {
      const std::string part = beginning_of(word, width);
      if (part.size() == word.size()) break;
      lines += part + '\n';
      word.erase(0, part.size());
    }
    line = std::move(word);
  };
  while (!content.empty()) {
    const std::size_t end = end_of_words(content);
    add(add, std::string{content.substr(0, end)});
    if (end < content.size() && content[end] == '\n') lines += std::exchange(line, {}) + '\n';
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return lines + line;
}

void text_in_lines(std::string_view content, float width, ImU32 colour, theme::Font font) {
  ImGui::PushFont(theme::font(font));
  const std::string lines = in_lines(content, width);
  ImGui::PopFont();
  text(lines, colour, font);
}

void wrapped_text(std::string_view content, ImU32 colour, theme::Font font) {
  text_in_lines(content, ImGui::GetContentRegionAvail().x, colour, font);
}

void tooltip(std::string_view what, std::string_view more) {
  if (!what.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) show_tooltip(what, more);
}

void show_tooltip(std::string_view what, std::string_view more) {
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0f);  // readable over a disabled item, too
  ImGui::BeginTooltip();
  constexpr float width = 24;
  text_in_lines(what, em(width));
  if (!more.empty()) text_in_lines(more, em(width), theme::dim, theme::Font::small);
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

bool hit_area(const char* id, ImVec2 size) {
  return ImGui::InvisibleButton(id, {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
}

UseFolds::UseFolds(Folds& folds) {
  folds_in_use = &folds;
}
UseFolds::~UseFolds() {
  folds_in_use = nullptr;
}

bool is_open(const char* id, bool open_at_first) {
  return folds_in_use ? folds_in_use->try_emplace(id, Fold{open_at_first}).first->second.open : open_at_first;
}

bool section(const char* id, const char* title, bool open_at_first, std::string_view remark, float reserved) {
  Fold none{open_at_first};
  Fold& fold = folds_in_use ? folds_in_use->try_emplace(id, none).first->second : none;
  if (hit_area(id, {ImGui::GetContentRegionAvail().x - reserved, ImGui::GetFrameHeight()})) fold = {!fold.open, true};
  const bool open = fold.open;
  ui_mark("section", id);

  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 colour = ImGui::IsItemHovered() ? theme::accent : theme::text;
  const float middle = (low.y + high.y) / 2;
  draw_chevron(draw, {low.x + em(0.3f), middle}, open, theme::accent);
  ImFont* const strong = theme::font(theme::Font::strong);
  draw.AddText(strong, strong->FontSize, {low.x + em(0.9f), middle - strong->FontSize / 2}, colour, title);
  float line = low.x + em(1.5f) + strong->CalcTextSizeA(strong->FontSize, FLT_MAX, 0, title).x, line_end = high.x;
  if (!remark.empty()) {
    ImFont* const small = theme::font(theme::Font::small);
    const char* const end = remark.data() + remark.size();
    const float x = high.x - small->CalcTextSizeA(small->FontSize, FLT_MAX, 0, remark.data(), end).x;
    draw.AddText(small, small->FontSize, {x, middle - small->FontSize / 2}, theme::dim, remark.data(), end);
    line_end = x - em(0.6f);
    ImGui::LogText("%s: %.*s\n", title, static_cast<int>(remark.size()), remark.data());
  }
  draw.AddLine({line, middle}, {line_end, middle}, ImGui::GetColorU32(ImGuiCol_Separator));
  return open;
}

bool fold_button(const char* id, bool folded, ImVec2 size) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const bool pressed = hit_area(id, size);
  ui_mark(id);
  draw_chevron(*ImGui::GetWindowDrawList(), {low.x + size.x / 2, low.y + size.y / 2}, !folded,
               ImGui::IsItemHovered() ? theme::text : theme::accent);
  return pressed;
}

std::string shortened(std::string_view content, float width) {
  if (size_of(content).x <= width) return std::string{content};
  constexpr const char* dots = "\u2026";
  while (!content.empty() && size_of(content).x + size_of(dots).x > width) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // of UTF-8
    while (content.size() > 1 && continues(content.back())) content.remove_suffix(1);
    content.remove_suffix(1);
  }
  return std::string{content} + dots;
}

bool begin_combo(const char* id, const std::string& preview, int flags, const std::string& brief) {
  // While the combo is open, the present window is its popup.
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float width = ImGui::CalcItemWidth(), arrow = em(1.3f);
  const float room = width - arrow - ImGui::GetStyle().FramePadding.x;
  const std::string shown = shortened(brief.empty() || size_of(preview).x <= room ? preview : brief, room);
  const std::string label = std::string{"##"} + id;
  const bool open = ImGui::BeginCombo(label.c_str(), shown.c_str(), flags | ImGuiComboFlags_NoArrowButton);
  draw_chevron(draw, {low.x + width - em(0.75f), low.y + ImGui::GetFrameHeight() / 2}, true, theme::dim);
  if (open && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) ImGui::CloseCurrentPopup();
  if (open) return true;
  ui_mark(id);
  if (shown != preview) tooltip(preview);  // the caller's tooltip comes below it
  return false;
}

namespace {

float label_column() {
  return em(6.3f);
}

void label_text(const char* label, std::string_view notes) {
  ImGui::AlignTextToFramePadding();
  const bool fits = size_of(label).x < label_column() - em(0.3f);
  text(label, theme::dim, fits ? theme::Font::body : theme::Font::small);
  tooltip(notes);
}

void to_field(float reserved) {
  ImGui::SameLine(label_column());
  ImGui::SetNextItemWidth(
      std::max(ImGui::GetContentRegionAvail().x - reserved, 1.0f));  // 0 and less mean something else
}

}  // namespace

void row_label(const char* label, std::string_view notes, float reserved) {
  label_text(label, notes);
  to_field(reserved);
}

bool marked_label(const char* id, const char* label, std::string_view notes, bool marked) {
  label_text(label, notes);
  ui_mark(id, "label");
  const bool asked = double_clicked(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  if (marked) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddCircleFilled({high.x + em(0.4f), (low.y + high.y) / 2}, em(0.18f), theme::warn);
    ui_mark(id, "differs");
  }
  to_field(0);
  return asked;
}

bool double_clicked(ImVec2 low, ImVec2 high) {
  constexpr int flags = ImGuiHoveredFlags_AllowWhenBlockedByPopup | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
  if (!ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) || !ImGui::IsWindowHovered(flags)) return false;
  if (!ImGui::IsMouseHoveringRect(low, high)) return false;
  ImGui::ClearActiveID();
  return true;
}

bool text_field(const char* id, const char* hint, std::string& content, bool refused) {
  ImGui::PushID(id);
  if (refused) ImGui::PushStyleColor(ImGuiCol_Text, theme::bad);
  const bool entered = ImGui::InputTextWithHint("##text", hint, &content, ImGuiInputTextFlags_EnterReturnsTrue);
  if (refused) ImGui::PopStyleColor();
  ImGui::PopID();
  ui_mark(id);
  return entered;
}

bool accent_button(const char* label, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_Button, theme::faded(theme::accent, 0.85f));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, theme::accent);
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, theme::faded(theme::accent, 0.7f));
  ImGui::PushStyleColor(ImGuiCol_Text, theme::on_accent);
  const bool pressed = ImGui::Button(label, size);
  ImGui::PopStyleColor(4);
  return pressed;
}

bool icon_button(const char* id, Icon icon, const char* label, ImVec2 size, bool accented) {
  ImGui::PushID(id);
  const bool pressed = accented ? accent_button("##button", size) : ImGui::Button("##button", size);
  ImGui::PopID();
  ui_mark(id);

  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 words = size_of(label);
  const float r = em(0.32f), gap = words.x > 0 ? em(0.4f) : 0;
  const float x = (low.x + high.x - words.x - gap - 2 * r) / 2, y = (low.y + high.y) / 2;
  const ImU32 plain = icon == Icon::record || icon == Icon::stop ? theme::bad : theme::accent;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_icon(draw, icon, {x + r, y}, r, accented ? theme::on_accent : plain);
  draw.AddText({x + 2 * r + gap, y - words.y / 2}, accented ? theme::on_accent : theme::text, label);
  return pressed;
}

void pill(std::string_view label, ImU32 colour) {
  ImGui::PushFont(theme::font(theme::Font::small));
  const ImVec2 words = size_of(label), pad{em(0.55f), em(0.12f)};
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + words.x + 2 * pad.x, low.y + words.y + 2 * pad.y};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, high, theme::faded(colour, 0.20f), em(1));
  draw.AddText({low.x + pad.x, low.y + pad.y}, colour, label.data(), label.data() + label.size());
  ImGui::Dummy({high.x - low.x, high.y - low.y});
  ImGui::PopFont();
}

void spinner(ImU32 colour) {
  const float r = em(0.4f);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float start = static_cast<float>(std::fmod(ImGui::GetTime() * 5, 6.2831853));
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PathArcTo({low.x + r, low.y + em(0.6f)}, r, start, start + 4.4f, 24);
  draw.PathStroke(colour, 0, em(0.14f));
  ImGui::Dummy({2 * r, em(1)});
}

}  // namespace orrery
