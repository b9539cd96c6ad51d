#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;
using Keys = std::span<const KeyHelp>;

constexpr theme::Font fine = theme::Font::small;

float width_of(const std::string& words) {
  return std::ceil(theme::text_width(words, fine));
}

/// Splits the keys into groups: a heading and its keys each.
std::vector<Keys> groups_of(Keys keys) {
  std::vector<Keys> groups;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && keys[end].group.empty();) ++end;
    groups.push_back(keys.subspan(begin, end - begin));
  }
  return groups;
}

/// Returns the number of lines of `groups`, with their headings.
std::size_t lines(std::span<const Keys> groups) {
  return std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                         [](std::size_t sum, Keys group) { return sum + group.size() + 1; });
}

/// Returns how many groups the first of two columns holds, so that both have about the same height.
std::size_t first_column(std::span<const Keys> groups) {
  std::size_t count = 0, best = lines(groups);
  for (std::size_t i = 0; i <= groups.size(); ++i) {
    const std::size_t height = std::max(lines(groups.first(i)), lines(groups.subspan(i)));
    if (height < best) count = i, best = height;
  }
  return count;
}

struct Widths {
  float keys = 0, actions = 0;
};

Widths widths_of(std::span<const Keys> groups) {
  Widths widths;
  for (const Keys group : groups) {
    for (const KeyHelp& line : group) {
      widths.keys = std::max(widths.keys, width_of(line.keys) + em(0.8f));
      widths.actions = std::max(widths.actions, width_of(line.action));
    }
  }
  return widths;
}

/// Draws one column of groups. `actions`: width of the texts that describe the actions.
void column(std::span<const Keys> groups, float actions) {
  const float keys_width = widths_of(groups).keys;
  ImGui::BeginGroup();
  for (const Keys group : groups) {
    text(group.front().group.empty() ? "Keys" : group.front().group, theme::accent, fine);
    for (const KeyHelp& line : group) {
      const float left = ImGui::GetCursorPosX();
      text(line.keys, theme::text, fine);
      ImGui::SameLine();
      ImGui::SetCursorPosX(left + keys_width);
      text_in_lines(line.action, actions, theme::dim, fine);
    }
  }
  ImGui::EndGroup();
}

/// Layout of the keys in one or two columns.
struct Layout {
  std::size_t first;  ///< number of groups in the first column; all of them: there is one column
  float actions[2];   ///< widths of the descriptions in each column
  float width;        ///< width of the help window
};

/// Lays out two columns if each description has room for about two words, else one column.
Layout layout_of(std::span<const Keys> groups, float room, float edges, float gap) {
  const std::size_t half = first_column(groups);
  const Widths one = widths_of(groups), first = widths_of(groups.first(half)), second = widths_of(groups.subspan(half));
  const auto fitted = [](float wanted, float most) { return std::max(std::min(wanted, most), 1.0f); };
  const float rest = (room - edges - gap - first.keys - second.keys) / 2;
  if (half == 0 || rest < std::min(em(11), std::max(first.actions, second.actions))) {
    const float actions = fitted(one.actions, room - edges - one.keys);
    return {groups.size(), {actions, 0}, one.keys + actions + edges};
  }
  // Each column gets the space that the other column does not need.
  const float left = fitted(first.actions, std::max(rest, 2 * rest - second.actions));
  const float right = fitted(second.actions, 2 * rest - left);
  return {half, {left, right}, first.keys + left + gap + second.keys + right + edges};
}

/// Draws the title and its buttons. This row does not scroll.
void head_row(Requests& out) {
  text("Keys and mouse", theme::accent, theme::Font::strong);
  ImGui::SameLine(0, em(1.2f));
  if (ImGui::SmallButton("Lessons")) {
    out.push_back(ToggleHelp{});
    out.push_back(ShowLesson{});
  }
  ui_mark("help.lessons");
  tooltip("Twelve lessons that measure on this machine: F7");
  const float button = em(1.6f);
  ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - button);
  if (ImGui::Button("\u00d7", {button, ImGui::GetTextLineHeight() + em(0.2f)})) out.push_back(ToggleHelp{});
  ui_mark("help.close");
  tooltip("Esc");
}

/// Draws the list in a window that scrolls and starts at its top. Returns the height of the whole list.
float key_list(std::span<const Keys> groups, const Layout& layout, ImVec2 size, float gap) {
  const bool opened = ImGui::IsWindowAppearing();
  ImGui::BeginChild("Keys", size);
  if (opened) ImGui::SetScrollY(0);
  column(groups.first(layout.first), layout.actions[0]);
  if (layout.first < groups.size()) {
    ImGui::SameLine(0, gap);
    column(groups.subspan(layout.first), layout.actions[1]);
  }
  const float needed = std::ceil(ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y);
  ImGui::EndChild();
  return needed;
}

/// Lower right corner of the help window.
struct Corner {
  ImVec2 at;
  float room;  ///< space to the left of the corner
};

/// Returns the corner for the list. The list is left of the legend if `width` fits there, else above the legend. If
/// neither has room, the list covers the legend.
Corner help_corner(const ViewStatus& view, const PanelState& state, float width, float least_width) {
  const ImVec2 display = ImGui::GetIO().DisplaySize, legend = state.legend_corner;
  const float margin = em(0.75f), column = side_column_width(view);
  const bool has_legend = legend.x < display.x;
  if (has_legend && width <= legend.x - margin - column) {
    return {{legend.x - margin, display.y - margin}, legend.x - margin - column};
  }
  const float low = legend.y - margin / 2, beside = display.x - margin - column;
  const bool above = has_legend && low - stage_top(view) >= em(13);
  const float end = above ? low : display.y - margin;
  return beside >= least_width ? Corner{{display.x - margin, end}, beside} : Corner{{display.x, end}, display.x};
}

}  // namespace

/// Draws the list at its full height. If the list is higher than the window, it scrolls below the title.
void help_panel(const ViewStatus& view, PanelState& state, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 padding{em(1.2f), em(0.7f)};
  const float margin = em(0.75f), gap = em(1.6f), edges = 2 * padding.x + ImGui::GetStyle().ScrollbarSize;
  const float head = em(15) + edges;  // width of the title and its buttons
  const std::vector<Keys> groups = groups_of(view.keys);
  const auto layout_in = [&](float room) { return layout_of(groups, room, edges, gap); };
  const auto wanted = [&](float room) { return std::max(layout_in(room).width, head); };
  const Corner corner = help_corner(view, state, wanted(display.x - side_column_width(view) - margin), head);
  const Layout layout = layout_in(corner.room);
  const float width = std::min(wanted(corner.room), corner.room);
  const float top_row = 2 * padding.y + em(1.4f);
  const bool light = stage_top(view) > strip_end(view);  // recording lights stay visible; the info strip may be covered
  const float top = light ? stage_top(view) : std::min(stage_top(view), std::max(corner.at.y - em(13), 0.0f));
  const float most = corner.at.y - top - top_row;
  ImGui::SetNextWindowPos(corner.at, ImGuiCond_Always, {1, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(0.1f)});
  ImVec4 ground = ImGui::GetStyleColorVec4(ImGuiCol_PopupBg);
  ground.w = 1;  // opaque: the small type may lie over the laboratory's tabs
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ground);
  if (ImGui::Begin("Help", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    head_row(out);
    const float height = state.help_height > 0 ? std::min(state.help_height, most) : most;
    state.help_height = key_list(groups, layout, {width - 2 * padding.x, std::max(std::floor(height), 1.0f)}, gap);
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
}

}  // namespace orrery
