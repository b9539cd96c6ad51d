#include "app/panels/kit/plot_dots.h"

#include <fmt/format.h>

#include <vector>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"

namespace orrery {

using theme::em;

float dot_radius() {
  return em(0.27f);
}

PlotDot plot_dot(const char* id, int index, ImVec2 centre, ImU32 colour, bool present) {
  const float reach = em(0.5f);
  ImGui::SetCursorScreenPos({centre.x - reach, centre.y - reach});
  ImGui::PushID(index);
  const bool clicked = hit_area(id, {2 * reach, 2 * reach});
  ImGui::PopID();
  ui_mark(id, fmt::format_int(index).c_str());
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddCircleFilled(centre, hovered ? em(0.36f) : dot_radius(), colour);
  if (present) draw.AddCircle(centre, reach, theme::text, 0, em(0.12f));
  return {clicked, hovered};
}

void draw_steps(const PlotArea& area, std::span<const ImVec2> dots, float from, ImU32 colour) {
  if (dots.empty()) return;
  std::vector<ImVec2> line;
  for (const ImVec2 dot : dots) {
    line.push_back({dot.x, line.empty() ? from : line.back().y});
    line.push_back(dot);
  }
  line.push_back({area.high.x, line.back().y});
  ImGui::GetWindowDrawList()->AddPolyline(line.data(), static_cast<int>(line.size()), colour, 0, em(0.1f));
}

void legend_entry(ImU32 colour, const char* words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.3f), at.y + em(0.45f)}, em(0.26f), colour);
  ImGui::Dummy({em(0.6f), em(0.9f)});
  ImGui::SameLine(0, em(0.3f));
  text(words, theme::dim, theme::Font::small);
}

}  // namespace orrery
