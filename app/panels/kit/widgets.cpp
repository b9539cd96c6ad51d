// Widgets, and the test marks with which tests find them.
#include "app/panels/kit/widgets.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <type_traits>
#include <utility>

#include "app/panels/kit/imgui_versions.h"

namespace orrery {
namespace {

struct Mark {
  UiRect rect;
  int frame = -1;
  bool cut_off = false;
};

// The map keeps its marks between frames, so that each name is allocated once. A new ImGui context clears it.
std::map<std::string, Mark, std::less<>>& marks() {
  static std::map<std::string, Mark, std::less<>> all;
  static int latest = 0;
  if (ImGui::GetFrameCount() < latest) all.clear();
  latest = ImGui::GetFrameCount();
  return all;
}

}  // namespace

void ui_mark(std::string_view name) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 clip_low = ImGui::GetWindowDrawList()->GetClipRectMin();
  const ImVec2 clip_high = ImGui::GetWindowDrawList()->GetClipRectMax();
  const UiRect rect{std::max(low.x, clip_low.x), std::max(low.y, clip_low.y), std::min(high.x, clip_high.x),
                    std::min(high.y, clip_high.y)};
  if (!(rect.x0 < rect.x1 && rect.y0 < rect.y1)) return;  // scrolled out of view
  auto found = marks().find(name);
  if (found == marks().end()) found = marks().emplace(name, Mark{}).first;
  const float hidden = (high.x - low.x) - (rect.x1 - rect.x0);
  found->second = {rect, ImGui::GetFrameCount(), hidden > 1};  // hidden > 1: one pixel is tolerated as rounding
}

void ui_mark(std::string_view group, std::string_view item) {
  std::array<char, 96> text;
  const auto end = fmt::format_to_n(text.data(), text.size(), "{}.{}", group, item);
  ui_mark(std::string_view{text.data(), std::min(end.size, text.size())});
}

UiRect ui_marked(std::string_view name) {
  const auto found = marks().find(name);
  return found != marks().end() && found->second.frame == ImGui::GetFrameCount() ? found->second.rect : UiRect{};
}

std::vector<std::string> ui_cut_off() {
  std::vector<std::string> names;
  for (const auto& [name, mark] : marks()) {
    if (mark.frame == ImGui::GetFrameCount() && mark.cut_off) names.push_back(name);
  }
  return names;
}

std::string ui_layout() {
  std::string text;
  for (const auto& [name, mark] : marks()) {
    if (mark.frame != ImGui::GetFrameCount()) continue;
    const UiRect& r = mark.rect;
    fmt::format_to(std::back_inserter(text), "{} {:.0f} {:.0f} {:.0f} {:.0f}\n", name, r.x0, r.y0, r.x1, r.y1);
  }
  return text;
}
namespace {

using theme::em;

ImVec2 size_of(std::string_view content) {
  return ImGui::CalcTextSize(content.data(), content.data() + content.size());
}

/// Returns whether the word looks like a number, such as "12.3" or "(1,024".
bool reads_as_number(std::string_view word) {
  if (word.starts_with('(') || word.starts_with('-')) word.remove_prefix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !word.empty() && digit(word.front()) && digit(word.back());
}

/// Returns the position of the first line break: a newline, or a blank that does not follow a number.
std::size_t end_of_words(std::string_view content) {
  std::size_t begin = 0, end = std::min(content.find_first_of(" \n"), content.size());
  while (end < content.size() && content[end] == ' ' && reads_as_number(content.substr(begin, end - begin))) {
    begin = end + 1;
    end = std::min(content.find_first_of(" \n", begin), content.size());
  }
  return end;
}

/// Returns the beginning of `word`, at least one character, that fits into `width`. `word` must be wider than `width`.
std::string beginning_of(std::string_view word, float width) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // UTF-8 middle byte
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
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0f);  // opaque even over a disabled item
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
  draw.AddText(strong, font_size(*strong), {low.x + em(0.9f), middle - font_size(*strong) / 2}, colour, title);
  float line = low.x + em(1.5f) + theme::text_width(title, theme::Font::strong), line_end = high.x;
  if (!remark.empty()) {
    ImFont* const small = theme::font(theme::Font::small);
    const char* const end = remark.data() + remark.size();
    const float x = high.x - theme::text_width(remark, theme::Font::small);
    draw.AddText(small, font_size(*small), {x, middle - font_size(*small) / 2}, theme::dim, remark.data(), end);
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
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // UTF-8 middle byte
    while (content.size() > 1 && continues(content.back())) content.remove_suffix(1);
    content.remove_suffix(1);
  }
  return std::string{content} + dots;
}

bool begin_combo(const char* id, const std::string& preview, int flags, const std::string& brief) {
  // While the combo is open, the current window is its popup.
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float width = ImGui::CalcItemWidth(), arrow = em(1.3f);
  const float room = width - arrow - ImGui::GetStyle().FramePadding.x;
  const std::string shown = shortened(brief.empty() || size_of(preview).x <= room ? preview : brief, room);
  const std::string label = std::string{"##"} + id;
  const bool open = ImGui::BeginCombo(label.c_str(), shown.c_str(), flags | ImGuiComboFlags_NoArrowButton);
  draw_chevron(draw, {low.x + width - em(0.75f), low.y + ImGui::GetFrameHeight() / 2}, true, theme::dim);
  if (open && ImGui::IsKeyPressed(key_index(ImGuiKey_Escape))) ImGui::CloseCurrentPopup();
  if (open) return true;
  ui_mark(id);
  if (shown != preview) tooltip(preview);  // the caller's own tooltip follows below
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
      std::max(ImGui::GetContentRegionAvail().x - reserved, 1.0f));  // ImGui gives widths <= 0 another meaning
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

template <class T>
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags) {
  constexpr ImGuiDataType type = std::is_same_v<T, float> ? ImGuiDataType_Float : ImGuiDataType_S32;
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImRect frame{low, {low.x + ImGui::CalcItemWidth(), low.y + ImGui::GetFrameHeight()}};
  T shown = value;
  ImRect handle;  // handle that ImGui would draw. This call only computes it, because its id is never active
  ImGui::SliderBehavior(frame, ImGui::GetID("fill"), type, &shown, &span.least, &span.most, format, flags, &handle);
  const bool active = ImGui::GetActiveID() == ImGui::GetID(label);
  ImGui::GetWindowDrawList()->AddRectFilled(
      low, {handle.GetCenter().x, frame.Max.y},
      ImGui::GetColorU32(active ? ImGuiCol_SliderGrabActive : ImGuiCol_SliderGrab), ImGui::GetStyle().FrameRounding,
      ImDrawFlags_RoundCornersLeft);
  for (const ImGuiCol handles : {ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive}) ImGui::PushStyleColor(handles, 0);
  const bool changed = ImGui::SliderScalar(label, type, &value, &span.least, &span.most, format, flags);
  ImGui::PopStyleColor(2);
  return changed;
}

template bool filled_slider(const char*, float&, const Range<float>&, const char*, int);
template bool filled_slider(const char*, int&, const Range<int>&, const char*, int);

template <class T>
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format, std::optional<T> own) {
  constexpr bool real = std::is_same_v<T, float>;
  ImGui::PushID(id);
  // ImGui's storage of the window holds the value that is being typed or dragged.
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID draft = ImGui::GetID("draft"), editing = ImGui::GetID("editing");
  T value = current;
  if (storage.GetBool(editing)) {
    if constexpr (real) {
      value = storage.GetFloat(draft);
    } else {
      value = storage.GetInt(draft);
    }
  }
  const bool changed = filled_slider("##slider", value, span, format, ImGuiSliderFlags_Logarithmic);
  const bool dragged = changed && ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::GetIO().WantTextInput;
  const bool ended = ImGui::IsItemDeactivatedAfterEdit(),
             restored = own && double_clicked(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  if (restored) value = *own;
  storage.SetBool(editing, ImGui::IsItemActive());
  if constexpr (real) {
    storage.SetFloat(draft, value);
  } else {
    storage.SetInt(draft, value);
  }
  ImGui::PopID();
  ui_mark(id);
  if ((dragged || ended || restored) && value != current) return value;
  return std::nullopt;
}

template std::optional<float> log_slider(const char*, float, const Range<float>&, const char*, std::optional<float>);
template std::optional<int> log_slider(const char*, int, const Range<int>&, const char*, std::optional<int>);

bool progress_row(const char* id, float share, const std::string& words, std::string_view present) {
  const float button = em(4.6f);
  ImGui::ProgressBar(share, {ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x, 0},
                     words.c_str());
  ui_mark(id, "progress");
  ImGui::SameLine();
  const std::string stop = std::string{id} + ".stop";
  const bool pressed = icon_button(stop.c_str(), Icon::stop, "Stop", {button, ImGui::GetFrameHeight()});
  wrapped_text(present, theme::dim, theme::Font::small);
  return pressed;
}

void written_rows(const char* id, std::span<const std::string> files, std::string_view error) {
  if (!error.empty()) wrapped_text(error, theme::bad, theme::Font::small);
  ui_mark(id, "error");
  for (const std::string& file : files) {
    wrapped_text("wrote " + file, theme::dim, theme::Font::small);
    tooltip(file);
  }
}

}  // namespace orrery
