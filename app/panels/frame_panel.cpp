#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "app/panels/format.h"
#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {
namespace {

using theme::em;

struct Phase {
  const char* name;
  double FrameTimes::*ms;
  ImU32 colour;
  bool of_steps;  // known only once a batch of steps has been measured
  const char* notes;
};
constexpr std::array phases{
    Phase{"map", &FrameTimes::map_ms, IM_COL32(42, 195, 222, 255), true,
          "Handing the drawn buffers to the kernels, or the copy that stands for it."},
    Phase{"force", &FrameTimes::force_ms, IM_COL32(122, 162, 247, 255), true,
          "The force kernel, all steps of the frame."},
    Phase{"integrate", &FrameTimes::integrate_ms, IM_COL32(187, 154, 247, 255), true,
          "Updating velocities and positions, all steps of the frame."},
    Phase{"unmap", &FrameTimes::unmap_ms, IM_COL32(86, 182, 154, 255), true, "Handing the buffers back for drawing."},
    Phase{"draw", &FrameTimes::draw_ms, IM_COL32(158, 206, 106, 255), false, "Drawing the bodies: GPU time."},
    Phase{"panel", &FrameTimes::gui_ms, IM_COL32(224, 175, 104, 255), false,
          "Making and submitting these panels: CPU time."},
    Phase{"swap", &FrameTimes::swap_ms, IM_COL32(86, 95, 137, 255), false,
          "Waiting in the buffer swap, for the display mostly."},
};

/// One frame, and which of its parts have been measured.
struct Shown {
  FrameTimes times;
  bool steps_known = false, frame_known = false;

  bool known(const Phase& phase) const { return phase.of_steps ? steps_known : frame_known; }
  double ms(const Phase& phase) const { return known(phase) ? times.*phase.ms : 0; }
};

/// The frame that is shown: held for a moment, because numbers that change with every frame cannot be read.
const Shown& held(const ViewStatus& view) {
  static Shown shown;
  static double until = 0;
  const double now = ImGui::GetTime(), hold_s = 0.2;
  const Shown latest{view.times, view.measured > 0, view.times.frame_ms > 0};
  const bool other = latest.steps_known != shown.steps_known || latest.frame_known != shown.frame_known;
  if (other || now >= until || until - now > hold_s) {
    shown = latest;
    until = now + hold_s;
  }
  return shown;
}

void bar(const Shown& shown) {
  double sum = 0;
  for (const Phase& phase : phases) sum += shown.ms(phase);
  const double whole = std::max({sum, shown.times.frame_ms, 1e-9});
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, em(0.75f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float x = low.x;
  for (const Phase& phase : phases) {
    const float width = static_cast<float>(shown.ms(phase) / whole) * size.x;
    const ImVec2 end{x + std::max(width - 1, 1.0f), low.y + size.y};
    if (width >= 0.5f) draw.AddRectFilled({x, low.y}, end, phase.colour, em(0.15f));
    x += width;
  }
  ImGui::Dummy(size);
  ui_mark("frame");
  tooltip("Where the frame's time goes.", "The empty rest of the bar is time that none of these accounts for.");
}

void legend(const Shown& shown) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(0.3f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {em(0.05f), em(0.1f)});
  if (ImGui::BeginTable("phases", 3, ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("first", ImGuiTableColumnFlags_WidthStretch, 1.03f);
    ImGui::TableSetupColumn("second", ImGuiTableColumnFlags_WidthStretch, 0.91f);
    ImGui::TableSetupColumn("third", ImGuiTableColumnFlags_WidthStretch, 1.13f);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (const Phase& phase : phases) {
      ImGui::TableNextColumn();
      ImGui::BeginGroup();
      const ImVec2 dot = ImGui::GetCursorScreenPos();
      draw.AddRectFilled({dot.x, dot.y + em(0.2f)}, {dot.x + em(0.5f), dot.y + em(0.7f)}, phase.colour, em(0.12f));
      ImGui::Dummy({em(0.5f), em(0.8f)});
      ImGui::SameLine();
      text(phase.name, theme::dim, theme::Font::small);
      ImGui::SameLine();
      text(shown.known(phase) ? format_ms(shown.ms(phase)) : unknown, theme::text, theme::Font::small);
      ImGui::EndGroup();
      tooltip(phase.notes);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace

void frame_panel(const Status&, const ViewStatus& view, Requests&) {
  const Shown& shown = held(view);
  text("Frame", theme::dim, theme::Font::small);
  ImGui::SameLine();
  const double ms = shown.times.frame_ms;
  text_to(ImGui::GetWindowContentRegionMax().x,
          shown.frame_known ? fmt::format("{}  \u2022  {:.0f} frames/s", format_ms(ms), 1000 / ms) : unknown,
          theme::dim, theme::Font::small);
  bar(shown);
  legend(shown);
}

}  // namespace orrery
