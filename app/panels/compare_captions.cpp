#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>

#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {
namespace {

using theme::em;

/// In `width`: the name is shortened, and the time is whole or left out.
std::string caption_of(const ComparedRun& run, float width) {
  const std::string time = run.step_ms > 0 ? fmt::format("   {} per step", format_ms(run.step_ms)) : std::string{};
  const float room = width - ImGui::CalcTextSize(time.c_str()).x;
  return room < em(5) ? shortened(run.name, width) : shortened(run.name, room) + time;
}

/// "A" in its colour, then its run, from `at` on; as wide as `most`. Returns where it ends, from the top of the window.
float caption(std::size_t which, ImVec2 at, float most, const ComparedRun& run) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(most, em(4)), FLT_MAX});
  if (ImGui::Begin(which == 0 ? "Run A" : "Run B", nullptr, base_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    text(which == 0 ? "A" : "B", run_colours[which], theme::Font::strong);
    ui_mark("compare.caption", which == 0 ? "A" : "B");
    ImGui::SameLine();
    text(caption_of(run, most - em(3.2f)), theme::text);
  }
  const float end = ImGui::GetWindowPos().y + ImGui::GetWindowSize().y;
  ImGui::End();
  return end;
}

}  // namespace

float compare_captions(const ViewStatus& view, const PanelState& state) {
  const CompareStatus& compare = view.compare;
  if (!compare.active) return 0;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const bool side = compare.layout == CompareLayout::side;
  const float margin = em(0.75f), top = stage_top(view);
  const float left = compare.left * display.x, split = side ? compare.split * display.x : display.x;
  const float column = side_column_width(view) + margin;
  if (side) {
    ImGui::GetBackgroundDrawList()->AddLine({split, 0}, {split, display.y - state.lab.covered}, theme::slate,
                                            em(0.08f));
  }
  const ImVec2 place_of_b = side ? ImVec2{split + margin, top} : ImVec2{column, top + em(2.2f)};
  const float end_of_b = caption(1, place_of_b, display.x - place_of_b.x - margin, compare.runs[1]);
  const float end_of_a = caption(0, {side ? left + margin : column, top}, split - left - 2 * margin, compare.runs[0]);
  return side ? end_of_a : end_of_b;
}

}  // namespace orrery
