#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/text/console.h"

namespace orrery {
namespace {

using theme::em;

}  // namespace

std::string machine_in_use(const ViewStatus& view) {
  const MachineUser* const user = view.machine_user();
  return user ? fmt::format("Not now: {}. {} ends it.", user->state, user->button) : std::string{};
}

void measurement_row(const ViewStatus& view, Requests& out) {
  const MeasurementInProgress& now = *view.measurement;
  const std::string left = now.left_s ? fmt::format(", about {} left", duration_text(*now.left_s)) : std::string{};
  ImGui::AlignTextToFramePadding();
  text(fmt::format("{}: {:.0f} %{}", now.user->title, 100 * now.done, left));
  ui_mark("measurement");
  tooltip("The shown system rests until the end.");
  ImGui::SameLine();
  if (icon_button("measurement.stop", Icon::stop, "Stop", {em(4.6f), ImGui::GetFrameHeight()}))
    out.push_back(now.user->stop());
}
namespace {

struct NamedTab : Tab {
  const char* id;  ///< one of tab_ids()
};

/// The laboratory's tabs, from left to right.
std::span<const NamedTab> tabs() {
#define X(tab, id) NamedTab{tab##_tab, id},
  static const std::array all{
#include "tabs_list.inc"
  };
#undef X
  return all;
}

/// Returns whether the laboratory is folded. In a low window it is, unless the user chose otherwise.
bool folded(const LabState& lab) {
  return lab.folded.value_or(ImGui::GetIO().DisplaySize.y < em(60));
}

float content_height() {
  return std::clamp(0.28f * ImGui::GetIO().DisplaySize.y, em(9), em(20));
}

/// Margin on each side of a tab's title, in pixels; smaller in a narrow window.
float tab_margin(bool narrow) {
  return em(narrow ? 0.25f : 0.45f);
}

/// Width of a tab's title in the current font, with margins.
float tab_width(const char* title, float margin) {
  return ImGui::CalcTextSize(title).x + 2 * margin;
}

/// Shows the tab's tooltip above all titles. It appears after the mouse has rested on the title, but not after a click.
void tab_tooltip(const char* id, const char* notes, bool pressed, float top, LabState& lab) {
  constexpr double rest_s = 0.6;
  const double now = ImGui::GetTime();
  if (!ImGui::IsItemHovered()) {
    // If the mouse did not move, the tab itself moved, because its content was opened.
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    if (lab.pointed == id && (moved.x != 0 || moved.y != 0)) lab.pointed.clear();
    return;
  }
  if (lab.pointed != id) lab.pointed = id, lab.explain_at = now + rest_s;
  if (pressed || ImGui::IsItemActive()) lab.explain_at = std::numeric_limits<double>::infinity();
  if (now < lab.explain_at) return;
  ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, top - em(0.3f)}, ImGuiCond_Always, {0, 1});
  show_tooltip(notes);
}

bool tab_button(const char* id, const char* title, const char* notes, float margin, bool chosen, LabState& lab) {
  const ImVec2 words = ImGui::CalcTextSize(title), low = ImGui::GetCursorScreenPos();
  const ImVec2 size{tab_width(title, margin), ImGui::GetFrameHeight()};
  const bool pressed = hit_area(id, size);
  ui_mark("lab", id);
  const ImU32 colour = chosen || ImGui::IsItemHovered() ? theme::text : theme::dim;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddText({low.x + margin, low.y + (size.y - words.y) / 2}, colour, title);
  if (chosen) {
    draw.AddRectFilled({low.x + margin / 2, low.y}, {low.x + size.x - margin / 2, low.y + em(0.13f)}, theme::accent);
  }
  tab_tooltip(id, notes, pressed, low.y, lab);
  return pressed;
}

/// Draws the open tab at the height of its content in the previous frame. If that would cover too much of the picture,
/// the content scrolls.
void content(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  const Tab& tab = *std::ranges::find(tabs(), state.lab.tab, &NamedTab::id);
  float& height = state.lab.content_height;
  const float most = std::max(content_height() + em(2), 0.45f * ImGui::GetIO().DisplaySize.y);
  const bool scrolls = height > most;
  ImGui::BeginChild(tab.title, {0, scrolls || height <= 0 ? most : height}, false,
                    scrolls ? 0 : ImGuiWindowFlags_NoScrollbar);
  tab.draw(status, view, state, content_height(), out);
  ImGui::Dummy({0, em(0.1f)});
  height = ImGui::GetCursorPosY();
  ImGui::EndChild();
}

void tab_strip(LabState& lab) {
  const float button = em(1.6f);
  float titles = 0;
  for (const Tab& tab : tabs()) titles += tab_width(tab.title, tab_margin(/*narrow=*/false));
  const bool narrow = titles + button > ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(theme::font(narrow ? theme::Font::small : theme::Font::body));
  for (const NamedTab& tab : tabs()) {
    const bool shown = !folded(lab) && tab.id == lab.tab;
    if (tab_button(tab.id, tab.title, tab.notes, tab_margin(narrow), shown, lab)) {
      lab.folded = shown;
      lab.tab = tab.id;
    }
    ImGui::SameLine(0, 0);
  }
  ImGui::PopFont();
  ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - button);
  const bool now = folded(lab);
  if (fold_button("lab.fold", now, {button, ImGui::GetFrameHeight()})) lab.folded = !now;
  tooltip(now ? "Show the laboratory" : "Show only the titles");
}

}  // namespace

float tab_captions(const ViewStatus& view, const PanelState& state) {
  float end = 0;
  for (const NamedTab& tab : tabs()) {
    if (tab.captions) end = std::max(end, tab.captions(view, state));
  }
  return end;
}

bool lab_fits(const ViewStatus& view) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return display.x - side_column_width(view) - lesson_width(view) >= em(least_lab_width) &&
         display.y >= em(least_lab_height);
}

void lab_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  const float margin = em(0.75f), left = side_column_width(view);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  LabState& lab = state.lab;
  const bool titles_only = folded(lab), known = titles_only || lab.content_height > 0;
  ImGui::SetNextWindowPos({left, display.y - margin}, ImGuiCond_Always, {0, 1});
  const float width = std::min(display.x - left - lesson_width(view) - margin, em(72));
  lab.right = left + width;
  ImGui::SetNextWindowSize({width, 0});
  if (ImGui::Begin("Laboratory", nullptr, base_window)) {
    if (!titles_only) content(status, view, state, out);
    tab_strip(lab);  // at the bottom, so that the titles do not move when the content changes height
    const ImGuiStyle& style = ImGui::GetStyle();
    const float height = ImGui::GetCursorPosY() - style.ItemSpacing.y + style.WindowPadding.y + margin;
    if (known) lab.covered = titles_only ? height : std::max(lab.covered, height);
  }
  ImGui::End();
}

void lab_sections(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  for (const NamedTab& tab : tabs()) {
    const bool open = section(tab.id, tab.title, &tab == &tabs().front());
    tooltip(tab.notes);
    if (open) tab.draw(status, view, state, em(13), out);
  }
}

}  // namespace orrery
