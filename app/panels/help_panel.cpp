#include <imgui.h>

#include <algorithm>

#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {

void help_panel(const Status&, const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float left = side_column_width(view);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x, display.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme::em(1.6f), theme::em(1.2f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  constexpr int flags = fixed_window | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_HorizontalScrollbar;
  if (ImGui::Begin("Help", nullptr, flags)) {
    // Beside the side column, or over it where there is no room.
    const ImVec2 size = ImGui::GetWindowSize();
    const float x = std::min((left + display.x - size.x) / 2, display.x - size.x);
    ImGui::SetWindowPos({std::max(x, 0.0f), std::max((display.y - size.y) / 2, 0.0f)});
    text("Keys and mouse", theme::accent, theme::Font::strong);
    ImGui::Dummy({0, theme::em(0.3f)});
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
      for (const KeyHelp& key : view.keys) {
        ImGui::TableNextColumn();
        text(key.keys, theme::text, theme::Font::strong);
        ImGui::TableNextColumn();
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme::em(1));
        text(key.action, theme::dim);
      }
      ImGui::EndTable();
    }
    ImGui::Dummy({0, theme::em(0.3f)});
    if (accent_button("Close", {theme::em(6), 0})) out.push_back(ToggleHelp{});
    ui_mark("help.close");
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace orrery
