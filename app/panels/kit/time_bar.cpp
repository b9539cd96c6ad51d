#include "app/panels/kit/time_bar.h"

#include <algorithm>

#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;

void begin_entry(ImU32 colour) {
  ImGui::TableNextColumn();
  ImGui::BeginGroup();
  const ImVec2 dot = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({dot.x, dot.y + em(0.2f)}, {dot.x + em(0.5f), dot.y + em(0.7f)}, colour, em(0.12f));
  ImGui::Dummy({em(0.5f), em(0.8f)});
  ImGui::SameLine();
}

}  // namespace

void time_head(std::string_view title, const std::string& total) {
  text(title, theme::dim, theme::Font::small);
  ImGui::SameLine();
  text_to(ImGui::GetWindowContentRegionMax().x, total, theme::dim, theme::Font::small);
}

void time_bar(const char* id, std::span<const TimePart> parts, double total_ms) {
  double sum = 0;
  for (const TimePart& part : parts) sum += part.known ? part.ms : 0;
  const double whole = std::max({sum, total_ms, 1e-9});
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, em(0.6f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float x = low.x;
  for (const TimePart& part : parts) {
    const float width = part.known ? static_cast<float>(part.ms / whole) * size.x : 0;
    const ImVec2 end{x + std::max(width - 1, 1.0f), low.y + size.y};
    if (width >= 0.5f) draw.AddRectFilled({x, low.y}, end, part.colour, em(0.15f));
    x += width;
  }
  ImGui::Dummy(size);
  ui_mark(id);
}

void time_legend(const char* id, std::span<const TimePart> parts, int columns) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(0.3f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {em(0.05f), em(0.1f)});
  if (ImGui::BeginTable(id, columns, ImGuiTableFlags_NoPadOuterX)) {
    for (int column = 0; column < columns; ++column) {
      constexpr float of_the_second = 1.1f;  // it has the longest names
      ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, column == 1 && columns == 3 ? of_the_second : 1);
    }
    for (const TimePart& part : parts) {
      begin_entry(part.colour);
      text(part.name, theme::dim, theme::Font::small);
      ImGui::SameLine();
      text(part.known ? format_ms(part.ms) : unknown, theme::text, theme::Font::small);
      ImGui::EndGroup();
      tooltip(part.notes);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace orrery
