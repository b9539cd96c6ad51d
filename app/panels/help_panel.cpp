#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {
namespace {

using theme::em;
using Keys = std::span<const KeyHelp>;

constexpr theme::Font fine = theme::Font::small;

float width_of(const std::string& words) {
  ImFont* const font = theme::font(fine);
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, words.c_str()).x;
}

/// The headings with their lines.
std::vector<Keys> groups_of(Keys keys) {
  std::vector<Keys> groups;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && keys[end].group.empty();) ++end;
    groups.push_back(keys.subspan(begin, end - begin));
  }
  return groups;
}

/// Lines of the groups before `end`, with those of their headings.
std::size_t lines(std::span<const Keys> groups) {
  return std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                         [](std::size_t sum, Keys group) { return sum + group.size() + 1; });
}

/// How many groups the first of two columns of about the same height holds.
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
  float both() const { return keys + actions; }
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

void column(std::span<const Keys> groups) {
  const float keys_width = widths_of(groups).keys;
  ImGui::BeginGroup();
  for (const Keys group : groups) {
    text(group.front().group.empty() ? "Keys" : group.front().group, theme::accent, fine);
    for (const KeyHelp& line : group) {
      const float left = ImGui::GetCursorPosX();
      text(line.keys, theme::text, fine);
      ImGui::SameLine();
      ImGui::SetCursorPosX(left + keys_width);
      text(line.action, theme::dim, fine);
    }
  }
  ImGui::EndGroup();
}

}  // namespace

/// Two columns on at most a third of the view; what does not fit scrolls.
void help_panel(const Status&, const ViewStatus& view, Requests& out) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 padding{em(1.2f), em(0.7f)};
  const float left = side_column_width(view), gap = em(1.6f), bar = ImGui::GetStyle().ScrollbarSize;
  const std::vector<Keys> groups = groups_of(view.keys);
  const std::span all{groups};
  const std::size_t half = first_column(all);
  const float edges = 2 * padding.x + bar;
  const float two = widths_of(all.first(half)).both() + gap + widths_of(all.subspan(half)).both() + edges;
  const bool wide = two <= display.x;
  const float head = em(15) + edges;  // the title and its buttons
  const float width = std::min(std::max(wide ? two : widths_of(all).both() + edges, head), display.x);
  const float least = std::min(em(13), display.y);
  const float most = std::max(std::floor(display.x * display.y / 3 / width), least);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, std::min(most, display.y)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(0.1f)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  const int flags =
      fixed_window | ImGuiWindowFlags_AlwaysAutoResize | (wide ? 0 : ImGuiWindowFlags_HorizontalScrollbar);
  if (ImGui::Begin("Help", nullptr, flags)) {
    // Beside the side column, or over it if there is no room.
    const ImVec2 size = ImGui::GetWindowSize();
    const float x = std::min((left + display.x - size.x) / 2, display.x - size.x);
    ImGui::SetWindowPos({std::max(x, 0.0f), std::max((display.y - size.y) / 2, 0.0f)});
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
    column(wide ? all.first(half) : all);
    if (wide) {
      ImGui::SameLine(0, gap);
      column(all.subspan(half));
    }
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
}

}  // namespace orrery
