#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string_view>
#include <vector>

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

/// What of a row is shown, by the width there is.
struct Columns {
  bool settings_and_count, rate;
};
Columns columns_for(float width) {
  return {width >= em(30), width >= em(20)};
}

void result_row(int index, const Result& row, Columns columns, const std::string& settings, const Status& status,
                Requests& out) {
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
  // The row is one widget, so this also tells what its cells are too narrow for.
  tooltip(fmt::format("{}  {}", row.kernel_id, row.settings),
          fmt::format("{} bodies, {}\nClick to return to this kernel and these settings.", format_count(row.count),
                      format_rate(row.interactions_per_s, "/s")));
  const auto number = [](const std::string& value, ImU32 colour) {
    ImGui::TableNextColumn();
    text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, value, colour);
  };
  if (columns.settings_and_count) {
    ImGui::TableNextColumn();
    text(row.settings.empty() ? unknown : row.settings, theme::dim);
    number(format_count(row.count), theme::dim);
  }
  number(format_ms(row.median_ms), theme::text);
  if (columns.rate) number(format_rate(row.interactions_per_s, "/s"), theme::text);
  number(format_speedup(row.speedup), row.speedup > 1 ? theme::good : theme::text);
}

struct Column {
  const char* name;
  float width;  ///< in em; < 0: a share of what is left
};

void table(const Status& status, const ViewStatus& view, Requests& out) {
  const Columns columns = columns_for(ImGui::GetContentRegionAvail().x);
  std::vector<Column> all{{"kernel", -1.0f}};
  if (columns.settings_and_count) all.insert(all.end(), {{"settings", -1.4f}, {"bodies", 4.4f}});
  all.push_back({"best median", 4.6f});
  if (columns.rate) all.push_back({"interactions", 5.2f});
  all.push_back({"speed-up", 4.0f});

  const int count = static_cast<int>(view.results.size());
  const float line = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float height = line * (1 + static_cast<float>(std::min(count, 7))) + em(0.3f);
  constexpr int flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoPadOuterX;
  if (!ImGui::BeginTable("results", static_cast<int>(all.size()), flags, {0, height})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const Column& column : all) {
    const bool fixed = column.width > 0;
    ImGui::TableSetupColumn(column.name, fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
                            fixed ? em(column.width) : -column.width);
  }
  ImGui::TableNextRow();
  for (const Column& column : all) {
    ImGui::TableNextColumn();
    if (column.width > 0) {
      text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, column.name, theme::dim, theme::Font::small);
    } else {
      text(column.name, theme::dim, theme::Font::small);
    }
  }

  const std::string settings = status.settings.to_string();
  ImGuiListClipper clipper;
  clipper.Begin(count);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      result_row(i, view.results[static_cast<std::size_t>(i)], columns, settings, status, out);
    }
  }
  ImGui::EndTable();
}

}  // namespace

void results_section(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  if (view.results.empty()) return;
  const float button = em(3.8f), gap = ImGui::GetStyle().ItemSpacing.x;
  const float field = ImGui::GetContentRegionAvail().x >= em(20) ? em(8) : 0;  // without it: a file of the default name
  const bool open = section("results", "Results", true, {}, 2 * button + field + 3 * gap);
  tooltip("What has been tried, in order. Speed-up is over the first row.");
  if (!open) return;
  bool pressed = false;
  if (field > 0) {
    ImGui::SameLine();
    ImGui::SetNextItemWidth(field);
    pressed = text_field("results.file", "results.csv", state.results_file);
  }
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

bool results_fit(const ViewStatus& view) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return display.x - side_column_width(view) >= em(18) && display.y >= em(22);
}

void results_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  if (view.results.empty()) return;
  const float margin = em(0.75f), left = side_column_width(view);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({left, display.y - margin}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSize({std::min(display.x - left - margin, em(44)), 0});
  if (ImGui::Begin("Results", nullptr, fixed_window)) results_section(status, view, state, out);
  ImGui::End();
}

}  // namespace orrery
