#include "app/panels/kit/rich_text.h"

#include <algorithm>
#include <cfloat>
#include <string>

#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;
using Style = TextSpan::Style;

/// Draws words from left to right and begins a new line where one does not fit.
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
    ImFont* const font = theme::font(style == Style::strong ? theme::Font::strong : theme::Font::body);
    const auto width_of = [&](std::string_view part) {
      return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, part.data(), part.data() + part.size()).x;
    };
    const float gap = blank_ && at_.x > begin_.x ? em(0.26f) : 0;
    blank_ = false;
    if (at_.x > begin_.x && at_.x + gap + width_of(word) > begin_.x + width_) {
      at_ = {begin_.x, at_.y + line_height()};
    } else {
      at_.x += gap;
    }
    while (width_of(word) > width_) {  // wider than the column: in parts
      std::size_t fits = word.size();
      while (fits > 1 && width_of(word.substr(0, fits)) > width_) --fits;
      while (fits > 1 && (static_cast<unsigned char>(word[fits]) & 0xc0) == 0x80) --fits;  // UTF-8
      draw(font, word.substr(0, fits), style);
      word.remove_prefix(fits);
      at_ = {begin_.x, at_.y + line_height()};
    }
    draw(font, word, style);
    at_.x += width_of(word);
  }

  void draw(ImFont* font, std::string_view word, Style style) const {
    const ImU32 colour = style == Style::code ? static_cast<ImU32>(theme::cyan) : colour_;
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at_, colour, word.data(), word.data() + word.size());
  }

  ImU32 colour_;
  ImVec2 begin_, at_;
  float width_ = 0;
  bool blank_ = false;  // one stands before the next word
};

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

/// Columns get widths by their longest words and their text.
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

}  // namespace

void rich_text(std::string_view line, ImU32 colour) {
  Flow flow{colour};
  for (const TextSpan& span : spans_of(line)) flow.add(span);
  flow.end();
}

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

}  // namespace orrery
