#include <imgui.h>

#include <algorithm>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {

using theme::em;

void quit_panel(const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em(1.2f), em(0.9f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  if (ImGui::Begin("Quit", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    text("Quit Orrery?", theme::accent, theme::Font::strong);
    const float width = std::clamp(display.x - em(4), em(12), em(26));
    for (const std::string& line : view.quit_question) text_in_lines(line, width);
    ImGui::Dummy({0, em(0.2f)});
    if (accent_button("Quit", {em(6), 0})) out.push_back(Quit{});
    ui_mark("quit.quit");
    tooltip("Enter");
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {em(6), 0})) out.push_back(CancelQuit{});
    ui_mark("quit.cancel");
    tooltip("Esc");
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace orrery
