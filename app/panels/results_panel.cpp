#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string_view>

#include "app/panels/format.h"
#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

namespace orrery {
namespace {

using theme::em;

/// Reads back what Settings::to_string wrote: "block=256 split=auto".
Settings::Values values_of(std::string_view settings) {
  Settings::Values values;
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(' '));
    settings.remove_prefix(std::min(setting.size() + 1, settings.size()));
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos) values.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return values;
}

void result_row(int index, const Result& row, const std::string& settings, const Status& status, Requests& out) {
  const bool selected = row.kernel_id == status.kernel_id && row.settings == settings;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(index);
  if (ImGui::Selectable(row.kernel_id.c_str(), selected && row.count == status.count,
                        ImGuiSelectableFlags_SpanAllColumns) &&
      !selected) {
    out.push_back(SelectKernel{row.kernel_id, values_of(row.settings)});
  }
  ImGui::PopID();
  ui_mark("result", fmt::format_int(index).c_str());
  tooltip("Click to return to this kernel and these settings.", row.settings);
  ImGui::TableNextColumn();
  text(row.settings.empty() ? unknown : row.settings, theme::dim);
  const auto number = [](const std::string& value, ImU32 colour) {
    ImGui::TableNextColumn();
    text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, value, colour);
  };
  number(format_count(row.count), theme::dim);
  number(format_ms(row.median_ms), theme::text);
  number(format_rate(row.interactions_per_s, "/s"), theme::text);
  number(format_speedup(row.speedup), row.speedup > 1 ? theme::good : theme::text);
}

void header(const char* name, bool right) {
  ImGui::TableNextColumn();
  if (right) {
    text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, name, theme::dim, theme::Font::small);
  } else {
    text(name, theme::dim, theme::Font::small);
  }
}

void table(const Status& status, const ViewStatus& view, Requests& out) {
  const int count = static_cast<int>(view.results.size());
  const float line = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float height = line * (1 + static_cast<float>(std::min(count, 7))) + em(0.3f);
  constexpr int flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoPadOuterX;
  if (!ImGui::BeginTable("results", 6, flags, {0, height})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("kernel", ImGuiTableColumnFlags_WidthStretch, 1.0f);
  ImGui::TableSetupColumn("settings", ImGuiTableColumnFlags_WidthStretch, 1.4f);
  ImGui::TableSetupColumn("n", ImGuiTableColumnFlags_WidthFixed, em(4.4f));
  ImGui::TableSetupColumn("ms", ImGuiTableColumnFlags_WidthFixed, em(4.6f));
  ImGui::TableSetupColumn("rate", ImGuiTableColumnFlags_WidthFixed, em(5.2f));
  ImGui::TableSetupColumn("speedup", ImGuiTableColumnFlags_WidthFixed, em(4.0f));
  ImGui::TableNextRow();
  header("kernel", false);
  header("settings", false);
  header("bodies", true);
  header("best median", true);
  header("interactions", true);
  header("speed-up", true);

  const std::string settings = status.settings.to_string();
  ImGuiListClipper clipper;
  clipper.Begin(count);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      result_row(i, view.results[static_cast<std::size_t>(i)], settings, status, out);
    }
  }
  ImGui::EndTable();
}

}  // namespace

void results_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  const float margin = em(0.75f), left = side_column_width(view);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float room = display.x - left - margin;
  if (view.results.empty() || room < em(30)) return;
  ImGui::SetNextWindowPos({left, display.y - margin}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSize({std::min(room, em(44)), 0});
  if (ImGui::Begin("Results", nullptr, fixed_window)) {
    const float button = em(3.8f), field = em(8), gap = ImGui::GetStyle().ItemSpacing.x;
    const bool open = section("results", "Results", true, {}, 2 * button + field + 3 * gap);
    tooltip("What has been tried, in order. Speed-up is over the first row.");
    if (open) {
      ImGui::SameLine();
      ImGui::SetNextItemWidth(field);
      bool pressed = text_field("results.file", "results.csv", state.results_file);
      ImGui::SameLine();
      pressed |= ImGui::Button("Export", {button, 0});
      ui_mark("results.export");
      if (pressed) out.push_back(ExportResults{state.results_file});
      tooltip("Writes the table as CSV. Without a name: a new file in orrery-out.");
      ImGui::SameLine();
      if (ImGui::Button("Clear", {button, 0})) out.push_back(ClearResults{});
      ui_mark("results.clear");
      table(status, view, out);
    }
  }
  ImGui::End();
}

}  // namespace orrery
