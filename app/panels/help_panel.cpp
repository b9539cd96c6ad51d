#include <imgui.h>

#include <algorithm>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {
namespace {

/// The list runs down the first column, then down the next.
void keys_table(const std::vector<KeyHelp>& keys, int columns) {
  const int rows = (static_cast<int>(keys.size()) + columns - 1) / columns;
  if (!ImGui::BeginTable("keys", 2 * columns, ImGuiTableFlags_SizingFixedFit)) return;
  for (int cell = 0; cell < rows * columns; ++cell) {
    const auto at = static_cast<std::size_t>(cell / columns + cell % columns * rows);
    ImGui::TableNextColumn();
    if (at < keys.size()) text(keys[at].keys, theme::text, theme::Font::strong);
    ImGui::TableNextColumn();
    if (at >= keys.size()) continue;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme::em(1));
    text(keys[at].action, theme::dim);
    if (cell % columns < columns - 1) {
      ImGui::SameLine();
      ImGui::Dummy({theme::em(2), 0});
    }
  }
  ImGui::EndTable();
}

}  // namespace

void help_panel(const Status&, const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float left = side_column_width(view);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x, display.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme::em(1.6f), theme::em(1.2f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  constexpr int flags = fixed_window | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_HorizontalScrollbar;
  if (ImGui::Begin("Help", nullptr, flags)) {
    // Beside the side column, or over it if there is no room.
    const ImVec2 size = ImGui::GetWindowSize();
    const float x = std::min((left + display.x - size.x) / 2, display.x - size.x);
    ImGui::SetWindowPos({std::max(x, 0.0f), std::max((display.y - size.y) / 2, 0.0f)});
    text("Keys and mouse", theme::accent, theme::Font::strong);
    ImGui::Dummy({0, theme::em(0.3f)});
    const bool wide = display.x > theme::em(70);
    keys_table(view.keys, wide ? 2 : 1);
    ImGui::Dummy({0, theme::em(0.3f)});
    if (accent_button("Close", {theme::em(6), 0})) out.push_back(ToggleHelp{});
    ui_mark("help.close");
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace orrery
