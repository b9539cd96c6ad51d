#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <string>
#include <string_view>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/theme.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/text/markdown.h"
#include "app/ui_state/lessons_commands.h"

namespace orrery {
namespace {

using theme::em;
using Style = TextSpan::Style;

/// Draws words from left to right, and starts a new line before a word that does not fit.
class Flow {
 public:
  explicit Flow(ImU32 colour) : colour_{colour}, begin_{ImGui::GetCursorScreenPos()}, at_{begin_} {
    width_ = std::max(ImGui::GetContentRegionAvail().x, em(4));
  }

  void add(const TextSpan& span) {
    std::string_view text = span.text;
    while (!text.empty()) {
      const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
      if (blanks > 0) blank_ = true;
      text.remove_prefix(blanks);
      const std::size_t end = std::min(text.find(' '), text.size());
      if (end > 0) add_word(text.substr(0, end), span.style);
      text.remove_prefix(end);
    }
  }

  void end() const {
    ImGui::SetCursorScreenPos(begin_);
    ImGui::Dummy({width_, at_.y + line_height() - begin_.y});
  }

 private:
  static float line_height() { return em(1.28f); }

  void add_word(std::string_view word, Style style) {
    const theme::Font which = style == Style::strong ? theme::Font::strong : theme::Font::body;
    const auto width_of = [&](std::string_view part) { return theme::text_width(part, which); };
    const float gap = blank_ && at_.x > begin_.x ? em(0.26f) : 0;
    blank_ = false;
    if (at_.x > begin_.x && at_.x + gap + width_of(word) > begin_.x + width_) {
      at_ = {begin_.x, at_.y + line_height()};
    } else {
      at_.x += gap;
    }
    while (width_of(word) > width_) {  // wider than the column: split the word
      std::size_t fits = word.size();
      while (fits > 1 && width_of(word.substr(0, fits)) > width_) --fits;
      while (fits > 1 && (static_cast<unsigned char>(word[fits]) & 0xc0) == 0x80) --fits;  // not within a UTF-8 char
      draw(theme::font(which), word.substr(0, fits), style);
      word.remove_prefix(fits);
      at_ = {begin_.x, at_.y + line_height()};
    }
    draw(theme::font(which), word, style);
    at_.x += width_of(word);
  }

  void draw(ImFont* font, std::string_view word, Style style) const {
    const ImU32 colour = style == Style::code ? static_cast<ImU32>(theme::cyan) : colour_;
    ImGui::GetWindowDrawList()->AddText(font, font_size(*font), at_, colour, word.data(), word.data() + word.size());
  }

  ImU32 colour_;
  ImVec2 begin_, at_;
  float width_ = 0;
  bool blank_ = false;  // a blank comes before the next word
};

/// Draws a line of Markdown with **strong** words and `code`. Breaks it at blanks where the column ends.
void rich_text(std::string_view line, ImU32 colour = theme::text) {
  Flow flow{colour};
  for (const TextSpan& span : spans_of(line)) flow.add(span);
  flow.end();
}

void bullet(std::string_view line) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({low.x + em(0.35f), low.y + em(0.55f)}, em(0.16f), theme::accent);
  ImGui::Indent(em(1));
  rich_text(line);
  ImGui::Unindent(em(1));
}

void code(const TextBlock& block) {
  const float pad = em(0.5f), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.ChannelsSplit(2);
  draw.ChannelsSetCurrent(1);
  ImGui::SetCursorScreenPos({low.x + pad, low.y + em(0.3f)});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - 2 * pad);
  text(std::string_view{block.text}.substr(0, block.text.find_last_not_of('\n') + 1), theme::dim, theme::Font::small);
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + em(0.3f);
  draw.ChannelsSetCurrent(0);
  draw.AddRectFilled(low, {low.x + width, bottom}, theme::track, em(0.3f));
  draw.ChannelsMerge();
  ImGui::SetCursorScreenPos(low);
  ImGui::Dummy({width, bottom - low.y});
}

/// Draws a table. The width of a column follows from its longest word and its text.
void table(const TextBlock& block, int number) {
  const auto columns = static_cast<int>(block.rows.front().size());
  ImGui::PushID(number);
  if (ImGui::BeginTable("table", columns, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp)) {
    for (std::size_t column = 0; column < block.rows.front().size(); ++column) {
      std::size_t longest = 6;
      for (const auto& row : block.rows) longest = std::max(longest, plain_text(row[column]).size());
      ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch,
                              static_cast<float>(std::min<std::size_t>(longest, 28)));
    }
    for (std::size_t row = 0; row < block.rows.size(); ++row) {
      for (const std::string& cell : block.rows[row]) {
        ImGui::TableNextColumn();
        rich_text(cell, row == 0 ? theme::dim : theme::text);
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
}

/// Draws blocks of Markdown, one below the other.
void rich_blocks(const TextBlocks& blocks) {
  for (const TextBlock& block : blocks) {
    switch (block.kind) {
      case TextBlock::Kind::bullet:
        bullet(block.text);
        break;
      case TextBlock::Kind::code:
        code(block);
        break;
      case TextBlock::Kind::table:
        table(block, block.line);
        break;
      case TextBlock::Kind::paragraph:
        rich_text(block.text);
        break;
    }
    ImGui::Dummy({0, em(0.25f)});
  }
}

constexpr std::array<const char*, lesson_pages> page_titles{"Read", "Predict", "Measure", "Answer", "Change"};

std::string letter(std::size_t choice) {
  return std::string(1, static_cast<char>('a' + choice));
}

void lesson_title(const LessonStatus& lesson, Requests& out) {
  const float button = em(1.6f);
  if (lesson.listed) {
    text("Lessons", theme::accent, theme::Font::strong);
  } else {
    if (ImGui::Button("Lessons")) out.push_back(ShowLesson{});
    ui_mark("lesson.list");
    tooltip("The list of all lessons");
    ImGui::SameLine();
    const std::string title = lesson.number > 0 ? fmt::format("{}. {}", lesson.number, lesson.title) : lesson.title;
    ImGui::AlignTextToFramePadding();
    text(shortened(title, ImGui::GetContentRegionAvail().x - button - em(0.5f)), theme::text, theme::Font::strong);
    tooltip(title);
  }
  ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - button);
  if (ImGui::Button("\u00d7", {button, ImGui::GetTextLineHeight() + em(0.2f)})) out.push_back(CloseLesson{});
  ui_mark("lesson.close");
  tooltip("Esc");
}

void lesson_list(const LessonStatus& lesson, Requests& out) {
  rich_text(
      "Each lesson sets a scene, asks for a prediction, measures on this machine, and ends with something to change. "
      "A digit opens a lesson; for 10 and above, type both digits in one go. In a command line, `orrery` stands for "
      "`./run` in the folder of the sources.",
      theme::dim);
  ImGui::Dummy({0, em(0.3f)});
  ImGui::PushStyleVar(ImGuiStyleVar_ButtonTextAlign, {0, 0.5f});
  for (const LessonTitle& title : lesson.titles) {
    const bool present = title.number == lesson.number;
    ImGui::PushStyleColor(ImGuiCol_Button, present ? ImGui::GetStyleColorVec4(ImGuiCol_Header) : ImVec4{});
    const std::string label = fmt::format("{}.  {}", title.number, title.title);
    if (ImGui::Button(label.c_str(), {ImGui::GetContentRegionAvail().x, 0})) out.push_back(ShowLesson{title.number});
    ImGui::PopStyleColor();
    ui_mark("lesson.open", std::to_string(title.number));
  }
  ImGui::PopStyleVar();
}

void page_tabs(const LessonStatus& lesson, Requests& out) {
  const float width = (ImGui::GetContentRegionAvail().x - 4 * em(0.2f)) / lesson_pages;
  for (int i = 0; i < lesson_pages; ++i) {
    const auto page = static_cast<LessonPage>(i);
    const char* const title = page_titles[static_cast<std::size_t>(i)];
    const bool pressed = page == lesson.page ? accent_button(title, {width, 0}) : ImGui::Button(title, {width, 0});
    if (pressed) out.push_back(TurnLessonPage{page});
    ui_mark("lesson.page", word_of(page));
    if (i + 1 < lesson_pages) ImGui::SameLine(0, em(0.2f));
  }
}

void read_page(const Status& status, const LessonStatus& lesson, Requests& out) {
  rich_blocks(lesson.introduction);
  rich_blocks(lesson.scene);
  if (ImGui::Button("Set the scene")) out.push_back(SetLessonScene{});
  ui_mark("lesson.scene");
  tooltip("Loads the lesson's scene in the window, with the first kernel that is measured.");
  if (status.undo_step) {
    ImGui::SameLine();
    if (ImGui::Button("Back to the system before")) out.emplace_back(Command{UndoReturn{}});
    ui_mark("lesson.scene.undo");
    tooltip("Ctrl+Z");
  }
  wrapped_text("The scene takes the place of the shown system, to which Ctrl+Z returns.", theme::dim,
               theme::Font::small);
}

/// Draws one choice: a button with its letter, then its text. Returns whether the button was pressed.
bool choice_row(const LessonStatus& lesson, std::size_t i, bool may_choose) {
  const bool predicted = lesson.predicted == static_cast<int>(i), right = lesson.right[i];
  const float size = em(1.8f);
  ImGui::BeginDisabled(!may_choose);
  const std::string label = fmt::format("{}###choice{}", letter(i), i);
  const bool pressed = predicted ? accent_button(label.c_str(), {size, 0}) : ImGui::Button(label.c_str(), {size, 0});
  ImGui::EndDisabled();
  ui_mark("lesson.choice", std::to_string(i + 1));
  ImGui::SameLine();
  const char* const mark = right ? " **(right here)**" : "";
  ImGui::BeginGroup();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
  rich_text(lesson.choices[i] + mark, right ? theme::good : theme::text);
  ImGui::EndGroup();
  return pressed && may_choose;
}

void predict_page(const LessonStatus& lesson, Requests& out) {
  rich_blocks(lesson.predict);
  for (std::size_t i = 0; i < lesson.choices.size(); ++i) {
    if (choice_row(lesson, i, !lesson.measured && !lesson.measuring)) out.push_back(PredictLesson{static_cast<int>(i)});
  }
  if (lesson.measured) wrapped_text("It is measured already: see Answer.", theme::dim, theme::Font::small);
}

/// Draws a row of the results, with a bar for its time relative to the longest time.
void bar_row(const LessonRowStatus& row, double longest_ms) {
  text(row.label, theme::text, theme::Font::strong);
  ImGui::SameLine();
  const auto& [median_ms, min_ms, low_ms, high_ms] = row.measurement.step_ms;
  const bool measured = row.measurement.measured();
  const std::string time = row.measurement.problem ? "failed" : measured ? format_ms(median_ms) : unknown;
  const float right = ImGui::GetWindowContentRegionMax().x;
  text_to(right, time, row.measurement.problem ? theme::bad : theme::text, theme::Font::strong);
  text(shortened(row.what, ImGui::GetContentRegionAvail().x), theme::dim, theme::Font::small);
  tooltip(row.what, row.measurement.problem.text);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = em(0.45f);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + width, low.y + height}, theme::track, em(0.2f));
  if (measured && longest_ms > 0) {
    const float share = static_cast<float>(median_ms / longest_ms);
    draw.AddRectFilled(low, {low.x + std::max(width * share, 2.0f), low.y + height}, theme::accent, em(0.2f));
  }
  ImGui::Dummy({width, height});
  if (!measured) return;
  const double median_error = row.measurement.errors().median;
  const std::string error = std::isfinite(median_error) ? ", error " + format_error(median_error) : "";
  wrapped_text(fmt::format("{}, {} interactions/s{}", format_interval_ms(low_ms, high_ms),
                           format_rate(row.measurement.interactions_per_s, ""), error),
               theme::dim, theme::Font::small);
}

void time_bars(const LessonStatus& lesson) {
  double longest_ms = 0;
  for (const LessonRowStatus& row : lesson.rows) {
    if (row.measurement.measured()) longest_ms = std::max(longest_ms, row.measurement.step_ms.median);
  }
  for (const LessonRowStatus& row : lesson.rows) {
    bar_row(row, longest_ms);
    ImGui::Dummy({0, em(0.15f)});
  }
}

void measure_page(const ViewStatus& view, Requests& out) {
  const LessonStatus& lesson = view.lesson;
  rich_blocks(lesson.measure);
  wrapped_text(fmt::format("This machine: {}.", lesson.machine), theme::dim);
  if (lesson.measuring) {
    const float share = lesson.total > 0 ? static_cast<float>(lesson.done) / static_cast<float>(lesson.total) : 0;
    const std::string left = lesson.left_s >= 1 ? fmt::format(", {:.0f} s left", lesson.left_s) : std::string{};
    ImGui::ProgressBar(share, {-1, 0}, fmt::format("{} of {}{}", lesson.done, lesson.total, left).c_str());
    ui_mark("lesson.progress");
    if (icon_button("lesson.stop", Icon::stop, "Stop", {ImGui::GetContentRegionAvail().x, ImGui::GetFrameHeight()})) {
      out.push_back(MeasureLesson{false});
    }
  } else {
    const char* const label = lesson.measured ? "Measure again" : "Measure";
    ImGui::BeginDisabled(view.machine_user() != nullptr);
    if (accent_button(label, {ImGui::GetContentRegionAvail().x, 0})) out.push_back(MeasureLesson{});
    ImGui::EndDisabled();
    ui_mark("lesson.measure");
    tooltip("Measures the rows one after the other, beside the window. The bodies pause meanwhile.",
            machine_in_use(view));
  }
  ImGui::Dummy({0, em(0.3f)});
  time_bars(lesson);
}

void lesson_verdict(const LessonStatus& lesson) {
  rich_text(lesson.verdict);
  const bool known = std::ranges::find(lesson.right, true) != lesson.right.end();
  if (!lesson.predicted || !known) return;
  const auto predicted = static_cast<std::size_t>(*lesson.predicted);
  const bool was_right = lesson.right[predicted];
  rich_text(fmt::format("You predicted {}: {}.", letter(predicted), was_right ? "right" : "not this time"),
            was_right ? theme::good : theme::warn);
}

void answer_page(const LessonStatus& lesson) {
  if (!lesson.measured) {
    rich_text("Measure first: the answer is made of what is measured on this machine.", theme::dim);
    return;
  }
  rich_blocks(lesson.predict);
  for (std::size_t i = 0; i < lesson.choices.size(); ++i) (void)choice_row(lesson, i, false);
  lesson_verdict(lesson);
  ImGui::Dummy({0, em(0.2f)});
  time_bars(lesson);
  rich_blocks(lesson.answer);
}

void lesson_page(const Status& status, const ViewStatus& view, Requests& out) {
  const LessonStatus& lesson = view.lesson;
  switch (lesson.page) {
    case LessonPage::read:
      return read_page(status, lesson, out);
    case LessonPage::predict:
      return predict_page(lesson, out);
    case LessonPage::measure:
      return measure_page(view, out);
    case LessonPage::answer:
      return answer_page(lesson);
    case LessonPage::change:
      rich_blocks(lesson.change);
  }
}

void turn_buttons(const LessonStatus& lesson, Requests& out) {
  const int at = static_cast<int>(lesson.page);
  const float width = em(6);
  ImGui::BeginDisabled(at == 0);
  if (ImGui::Button("Back", {width, 0})) out.push_back(TurnLessonPage{static_cast<LessonPage>(at - 1)});
  ImGui::EndDisabled();
  ui_mark("lesson.back");
  tooltip("Backspace");
  ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - width);
  const bool last = at + 1 == lesson_pages;
  const auto next = std::ranges::find(lesson.titles, lesson.number + 1, &LessonTitle::number);
  ImGui::BeginDisabled(lesson.measuring || (last && next == lesson.titles.end()));
  if (ImGui::Button(last ? "Next lesson" : "Next", {width, 0})) {
    if (last) {
      out.push_back(ShowLesson{next->number});
    } else {
      out.push_back(TurnLessonPage{static_cast<LessonPage>(at + 1)});
    }
  }
  ImGui::EndDisabled();
  ui_mark("lesson.next");
  tooltip("Enter");
}

}  // namespace

float lesson_width(const ViewStatus& view) {
  if (!view.lesson.shown || view.presentation) return 0;
  const float margin = em(0.75f), display = ImGui::GetIO().DisplaySize.x;
  const float room = display - side_column_width(view);
  return std::min(em(31) + margin, room >= em(23) ? room : display - margin);
}

bool legend_below_lesson(const ViewStatus& view) {
  const float lesson = lesson_width(view);
  return lesson > 0 && ImGui::GetIO().DisplaySize.x - side_column_width(view) - lesson < em(14);
}

/// Draws the lesson at the right of the window, over the picture.
void lesson_panel(const Status& status, const ViewStatus& view, const PanelState& state, Requests& out) {
  const LessonStatus& lesson = view.lesson;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float margin = em(0.75f), top = stage_top(view), above_legend = state.legend_corner.y - margin / 2;
  const bool both_fit = legend_below_lesson(view) && above_legend - top >= em(13);
  const float end = both_fit ? std::min(above_legend, display.y - margin) : display.y - margin;
  ImGui::SetNextWindowPos({display.x - margin, top}, ImGuiCond_Always, {1, 0});
  ImGui::SetNextWindowSize({lesson_width(view) - margin, end - top});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  if (ImGui::Begin("Lesson", nullptr, fixed_window)) {
    lesson_title(lesson, out);
    if (!lesson.listed) page_tabs(lesson, out);
    ImGui::Separator();
    const float footer = lesson.listed ? 0 : ImGui::GetFrameHeightWithSpacing() + em(0.3f);
    const std::string id = fmt::format("page {} {} {}", lesson.listed, lesson.number, static_cast<int>(lesson.page));
    ImGui::BeginChild(id.c_str(), {0, -footer});
    ImGui::Dummy({0, em(0.1f)});
    if (lesson.listed) {
      lesson_list(lesson, out);
    } else {
      lesson_page(status, view, out);
    }
    ImGui::EndChild();
    if (!lesson.listed) turn_buttons(lesson, out);
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace orrery
