#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <span>

#include "app/panels/format.h"
#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {
namespace {

using theme::em;

struct Part {
  const char* name;
  double ms;
  bool known;
  ImU32 colour;
  const char* notes;
};

void head(const char* title, const std::string& total) {
  text(title, theme::dim, theme::Font::small);
  ImGui::SameLine();
  text_to(ImGui::GetWindowContentRegionMax().x, total, theme::dim, theme::Font::small);
}

/// The parts side by side; the rest up to `total_ms` stays empty.
void bar(const char* id, std::span<const Part> parts, double total_ms) {
  double sum = 0;
  for (const Part& part : parts) sum += part.known ? part.ms : 0;
  const double whole = std::max({sum, total_ms, 1e-9});
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, em(0.6f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float x = low.x;
  for (const Part& part : parts) {
    const float width = part.known ? static_cast<float>(part.ms / whole) * size.x : 0;
    const ImVec2 end{x + std::max(width - 1, 1.0f), low.y + size.y};
    if (width >= 0.5f) draw.AddRectFilled({x, low.y}, end, part.colour, em(0.15f));
    x += width;
  }
  ImGui::Dummy(size);
  ui_mark(id);
}

void begin_entry(ImU32 colour) {
  ImGui::TableNextColumn();
  ImGui::BeginGroup();
  const ImVec2 dot = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({dot.x, dot.y + em(0.2f)}, {dot.x + em(0.5f), dot.y + em(0.7f)}, colour, em(0.12f));
  ImGui::Dummy({em(0.5f), em(0.8f)});
  ImGui::SameLine();
}

void legend(const char* id, std::span<const Part> parts, const std::string& remark = {}) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(0.3f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {em(0.05f), em(0.1f)});
  if (ImGui::BeginTable(id, 3, ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("first", ImGuiTableColumnFlags_WidthStretch, 1);
    ImGui::TableSetupColumn("second", ImGuiTableColumnFlags_WidthStretch, 1.1f);
    ImGui::TableSetupColumn("third", ImGuiTableColumnFlags_WidthStretch, 1);
    for (const Part& part : parts) {
      begin_entry(part.colour);
      text(part.name, theme::dim, theme::Font::small);
      ImGui::SameLine();
      text(part.known ? format_ms(part.ms) : unknown, theme::text, theme::Font::small);
      ImGui::EndGroup();
      tooltip(part.notes);
    }
    if (!remark.empty()) {
      ImGui::TableNextColumn();
      text(remark, theme::dim, theme::Font::small);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

void step_bar(const HeldTimes& held) {
  const StepTiming& step = held.step;
  const Part parts[] = {
      {"force", step.force_ms, held.step_known, IM_COL32(122, 162, 247, 255), "The force kernel, of one step."},
      {"integrate", step.integrate_ms, held.step_known, IM_COL32(187, 154, 247, 255),
       "Updating velocities and positions, of one step."},
  };
  head("Step", held.step_known ? format_ms(step.step_ms) : unknown);
  bar("step-time", parts, step.step_ms);
  tooltip("Where the last step's time goes.",
          "Steps run beside the frames, on the GPU or on other threads: a step may take longer than a frame.");
  const bool many = held.step_known && step.steps > 1;
  legend("step-parts", parts, many ? fmt::format("{} steps a frame", step.steps) : std::string{});
}

void frame_bar(const HeldTimes& held) {
  const FrameTimes& times = held.frame;
  const bool known = held.frame_known, mapped = known && held.step_known;
  const double map_ms = mapped ? times.map_ms + times.unmap_ms : 0;
  const double rest_ms = times.frame_ms - map_ms - times.draw_ms - times.gui_ms - times.swap_ms;
  const Part parts[] = {
      {"map", map_ms, mapped, IM_COL32(42, 195, 222, 255),
       "Handing the drawn buffers to the kernels and back, or the copy that stands for it: once for each batch of "
       "steps, so in the frame that the last step belongs to."},
      {"draw", times.draw_ms, known, IM_COL32(158, 206, 106, 255), "Drawing the bodies: GPU time."},
      {"panel", times.gui_ms, known, IM_COL32(224, 175, 104, 255), "Making and submitting these panels: CPU time."},
      {"swap", times.swap_ms, known, IM_COL32(86, 95, 137, 255), "Waiting in the buffer swap, for the display mostly."},
      {"rest", std::max(rest_ms, 0.0), known, IM_COL32(255, 255, 255, 40), "Time that none of these accounts for."},
  };
  head("Frame",
       known ? fmt::format("{}  \u2022  {:.0f} frames/s", format_ms(times.frame_ms), 1000 / times.frame_ms) : unknown);
  bar("frame", parts, times.frame_ms);
  tooltip("Where the frame's time goes.",
          "Drawing is GPU time, which overlaps the wait in the swap; the parts may come to more than the frame.");
  legend("frame-parts", parts);
}

}  // namespace

void hold_times(const Status& status, const ViewStatus& view, HeldTimes& held) {
  constexpr double hold_s = 0.2;
  const double now = ImGui::GetTime();
  const bool step_known = view.measured > 0 && status.timing.steps > 0, frame_known = view.times.frame_ms > 0;
  const bool other = step_known != held.step_known || frame_known != held.frame_known;
  if (!other && now < held.until) return;
  held = {view.times, status.timing, step_known, frame_known, now + hold_s};
}

void frame_panel(const HeldTimes& times) {
  step_bar(times);
  frame_bar(times);
}

}  // namespace orrery
