#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <string>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/window_commands.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

using theme::em;

std::string badge_label(const ViewStatus& view) {
  const std::string cost = view.measured > 0 ? format_ms(view.times.map_ms + view.times.unmap_ms) : unknown;
  return fmt::format("{}  {}", to_string(view.interop), cost);
}

/// Returns the width from the side column to the right edge.
float room(const ViewStatus& view) {
  return ImGui::GetIO().DisplaySize.x - side_column_width(view) - em(0.75f);
}

struct Entry {
  std::string words;
  ImU32 colour;
  theme::Font font;
  int importance;  ///< if there is little room, the entries with the lowest numbers are dropped first
  const char* mark;
};

float width_of(const Entry& entry) {
  return theme::text_width(entry.words, entry.font) + em(1);
}

/// Returns the simulated time. Adds it in a physical unit if the scene's file has units.
std::string time_words(const Status& status) {
  const std::string time = fmt::format("t = {:.3f}", status.sim_time);
  if (!status.units || !(status.sim_time > 0)) return time;
  return time + " (" + time_value(status.sim_time * status.units->time_s()) + ")";
}

}  // namespace

const char* slower_words(const Status& status, const ViewStatus& view) {
  if (!view.gl_on_processor || status.backend != Backend::cpu) return "";
  return "OpenGL draws on the same processor, so steps are slower than in bench.";
}

void interop_badge(const Status& status, const ViewStatus& view) {
  const ImU32 colour = view.interop == Interop::mapped   ? theme::good
                       : view.interop == Interop::staged ? theme::warn
                                                         : theme::accent;
  pill(badge_label(view), colour);
  ui_mark("interop");
  if (view.interop == Interop::mapped) tooltip("The kernels write the drawn buffer directly: no copy.");
  if (view.interop == Interop::staged) {
    tooltip("Positions are copied through host memory to be drawn.", view.interop_reason);
  }
  if (view.interop == Interop::host) tooltip(view.interop_reason, slower_words(status, view));
}

bool info_fits(const ViewStatus& view) {
  return room(view) >= em(16);
}

void info_panel(const Status& status, const ViewStatus& view, Requests& out) {
  const float margin = em(0.75f), padding = em(0.8f);
  std::vector<Entry> entries{
      {status.scene_name, theme::text, theme::Font::strong, 1, "info.scene"},
      {counted_bodies(status.count), theme::text, theme::Font::body, 2, "info.bodies"},
      {fmt::format("step {}", format_count(status.step)), theme::dim, theme::Font::body, 0, "info.step"},
      {time_words(status), theme::dim, theme::Font::body, 3, "info.time"},
  };
  const Entry help{"F1 keys", theme::dim, theme::Font::body, 4, "help"};
  float width = width_of(help) + ImGui::CalcTextSize(badge_label(view).c_str()).x + em(2.1f) + 2 * padding;
  for (const Entry& entry : entries) width += width_of(entry);
  while (!entries.empty() && width > room(view)) {
    const auto least = std::ranges::min_element(entries, {}, &Entry::importance);
    width -= width_of(*least);
    entries.erase(least);
  }

  ImGui::SetNextWindowPos({ImGui::GetIO().DisplaySize.x - margin, margin}, ImGuiCond_Always, {1, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {padding, em(0.4f)});
  constexpr int flags = base_window | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoScrollbar;
  if (ImGui::Begin("Info", nullptr, flags)) {
    for (const Entry& entry : entries) {
      text(entry.words, entry.colour, entry.font);
      ui_mark(entry.mark);
      ImGui::SameLine(0, em(1));
    }
    interop_badge(status, view);
    ImGui::SameLine(0, em(1));
    text(help.words, help.colour, help.font);
    if (ImGui::IsItemClicked()) out.push_back(ToggleHelp{});
    ui_mark(help.mark);
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

}  // namespace orrery
