#include "app/panels/kit/time_bar.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/plot_axis.h"
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

/// Of columns that hold the parts in turn, each name with the longest time; a column without parts is a usual one.
std::vector<float> widths_of(std::span<const TimePart> parts, int columns, float gap) {
  std::vector<float> widths(static_cast<std::size_t>(columns), em(5.5f));
  std::size_t column = 0;
  for (const TimePart& part : parts) {
    float& width = widths[column++ % widths.size()];
    width = std::max(width, em(0.5f) + 2 * gap + small_width(std::string{part.name} + "0.888 ms"));
  }
  return widths;
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

void time_legend(const char* id, std::span<const TimePart> parts, int most_columns) {
  const float gap = em(0.3f), padding = em(0.05f), room = ImGui::GetContentRegionAvail().x;
  std::vector<float> widths = widths_of(parts, most_columns, gap);
  const float needed =
      std::accumulate(widths.begin(), widths.end(), 0.0f) + 2 * padding * static_cast<float>(widths.size());
  if (needed > room && most_columns > 2) widths = widths_of(parts, 2, gap);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding, em(0.1f)});
  if (ImGui::BeginTable(id, static_cast<int>(widths.size()), ImGuiTableFlags_NoPadOuterX)) {
    for (const float width : widths) ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, width);
    for (const TimePart& part : parts) {
      begin_entry(part.colour);
      text(part.name, theme::dim, theme::Font::small);
      ImGui::SameLine();
      text(part.known ? format_ms(part.ms) : unknown, theme::text, theme::Font::small);
      ImGui::EndGroup();
      ui_mark(id, part.name);
      tooltip(part.notes);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace orrery
