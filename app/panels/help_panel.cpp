#include <imgui.h>

#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {

void help_panel(const Status&, const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float left = side_column_width(view);
  ImGui::SetNextWindowPos({(left + display.x) / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x, display.y * 0.9f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme::em(1.6f), theme::em(1.2f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  if (ImGui::Begin("Help", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
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
