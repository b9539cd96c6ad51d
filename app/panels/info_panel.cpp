#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cfloat>

#include "app/panels/format.h"
#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {
namespace {

using theme::em;

void interop_badge(const ViewStatus& view) {
  const ImU32 colour = view.interop == Interop::mapped   ? theme::good
                       : view.interop == Interop::staged ? theme::warn
                                                         : theme::accent;
  const char* notes = view.interop == Interop::mapped   ? "The kernels write the buffer that is drawn: no copy."
                      : view.interop == Interop::staged ? "Positions are copied through host memory to be drawn."
                                                        : "A CPU kernel runs; its positions are uploaded to be drawn.";
  const std::string cost = view.measured > 0 ? format_ms(view.times.map_ms + view.times.unmap_ms) : unknown;
  pill(fmt::format("{}  {}", to_string(view.interop), cost), colour);
  ui_mark("interop");
  tooltip(notes, view.interop_reason);
}

}  // namespace

void info_panel(const Status& status, const ViewStatus& view, Requests& out) {
  const float margin = em(0.75f);
  ImGui::SetNextWindowPos({ImGui::GetIO().DisplaySize.x - margin, margin}, ImGuiCond_Always, {1, 0});
  const float room = std::max(ImGui::GetIO().DisplaySize.x - side_column_width(view) - margin, em(4));
  ImGui::SetNextWindowSizeConstraints({0, 0}, {room, FLT_MAX});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em(0.8f), em(0.4f)});
  constexpr int flags = fixed_window | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoScrollbar;
  if (ImGui::Begin("Info", nullptr, flags)) {
    text(status.scene_name, theme::text, theme::Font::strong);
    ImGui::SameLine();
    text(fmt::format("{} bodies", format_count(status.count)));
    ImGui::SameLine(0, em(1));
    text(fmt::format("step {}", format_count(status.step)), theme::dim);
    ImGui::SameLine(0, em(1));
    text(fmt::format("t = {:.3f}", status.sim_time), theme::dim);
    ImGui::SameLine(0, em(1));
    interop_badge(view);
    ImGui::SameLine(0, em(1));
    text("F1 keys", theme::dim);
    if (ImGui::IsItemClicked()) out.push_back(ToggleHelp{});
    ui_mark("help");
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

}  // namespace orrery
