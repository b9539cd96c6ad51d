#include "app/panels/panels.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
/// Tooltip of Reset, in this panel and in the message of a stopped run.
const char* const reset_words =
    "Restores the scene's own time step, softening, law and integrator. Keeps kernel, settings and steps per frame.";

void run_panel(const Status& status, const ViewStatus&, Requests& out) {
  ImGui::Dummy({0, theme::em(0.1f)});
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 size{(ImGui::GetContentRegionAvail().x - 3 * gap) / 4, theme::em(1.8f)};
  if (icon_button("run", status.paused ? Icon::run : Icon::pause, status.paused ? "Run" : "Pause", size,
                  status.paused)) {
    out.push_back(SetPaused{!status.paused});
  }
  ImGui::SameLine();
  if (icon_button("step", Icon::step, "Step", size)) out.push_back(StepOnce{});
  tooltip("Pause, then run one step");
  ImGui::SameLine();
  if (icon_button("restart", Icon::restart, "Restart", size)) out.push_back(Restart{});
  tooltip("Back to the first state of this scene (key R)", "Keeps all settings.");
  ImGui::SameLine();
  if (icon_button("reset", Icon::reset, "Reset", size)) out.push_back(Reset{});
  tooltip("Back to the first state and the physics of this scene (key Shift+R)", reset_words);
}
namespace {

using theme::em;

constexpr float usual_column = 23.5f;  // em

/// Returns a tooltip that names the OpenGL renderer.
std::string drawn_words(const Status& status, const ViewStatus& view) {
  if (view.gl_renderer.empty()) return {};
  const std::string slower = slower_words(status, view);
  return "Drawn by " + view.gl_renderer + (slower.empty() ? "" : "\n" + slower);
}

void title_row(const Status& status, const ViewStatus& view, Requests& out) {
  text("Orrery", theme::text, theme::Font::strong);
  const std::string& device = status.backend == Backend::cuda ? view.gpu : view.processor;
  const float button = em(1.6f), right = ImGui::GetWindowContentRegionMax().x;
  if (!info_fits(view)) {
    ImGui::SameLine();
    interop_badge(status, view);
  } else if (!device.empty()) {
    ImGui::SameLine();
    const float low = ImGui::GetCursorScreenPos().x;
    ImGui::PushClipRect({low, 0}, {low + right - ImGui::GetCursorPosX() - button, ImGui::GetIO().DisplaySize.y}, true);
    text(device, theme::dim);
    ImGui::PopClipRect();
    tooltip(device, drawn_words(status, view));
  }
  ImGui::SameLine(right - button);
  if (ImGui::Button("\u00d7", {button, ImGui::GetTextLineHeight() + em(0.2f)})) out.push_back(TogglePanel{});
  ui_mark("panel.hide");
  tooltip("Hide the panels");
}

void settings(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  scene_panel(status, view, state, out);
  kernel_panel(status, view, state, out);
  tree_panel(status, view, state.times, out);
  physics_panel(status, view, out);
  appearance_panel(status, view, state, out);
  record_panel(status, view, state, out);
  if (!lab_fits(view)) lab_sections(status, view, state, out);
}

void side_column(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  const float margin = em(0.75f), top = lights_cover_column(view) ? stage_top(view) : margin;
  const float height = ImGui::GetIO().DisplaySize.y - top - margin;
  const bool low = height < em(28);  // the whole column scrolls
  ImGui::SetNextWindowPos({margin, top});
  ImGui::SetNextWindowSize({side_column_width(view) - 2 * margin, height});
  if (ImGui::Begin("Side column", nullptr, low ? base_window : base_window | ImGuiWindowFlags_NoScrollbar)) {
    title_row(status, view, out);
    rate_panel(status, view, state.times);
    frame_panel(state.times);
    run_panel(status, view, out);
    if (low) {
      settings(status, view, state, out);
    } else {
      // The measurements do not scroll; the settings below them do.
      ImGui::BeginChild("Settings");
      settings(status, view, state, out);
      ImGui::EndChild();
    }
  }
  ImGui::End();
}

bool panels_shown(const ViewStatus& view) {
  const float scale = em(1) / theme::body_pixels;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return view.panel && !view.presentation && display.x > scale * least_window.width - 1 &&
         display.y > scale * least_window.height - 1;
}

}  // namespace

float fitting_scale(float asked, float width, float height) {
  constexpr float steps = 8;
  const float fitting =
      std::min(width / (usual_column + least_lab_width), height / least_lab_height) / theme::body_pixels;
  return std::min(asked, std::max(std::floor(steps * fitting) / steps, 1.0f));
}

float side_column_width(const ViewStatus& view) {
  if (!panels_shown(view)) return 0;
  constexpr float usual = usual_column, least = 23, legend = 3.6f;
  const float display = ImGui::GetIO().DisplaySize.x;
  const bool both_fit = display >= em(least + legend);
  return both_fit ? std::min(em(usual), display - em(legend)) : std::min(em(usual), display);
}

void draw_panels(const Status& status, const ViewStatus& view, PanelState& state, Requests& out) {
  const UseFolds folds{state.folds};
  hold_times(status, view, state.times);
  if (panels_shown(view)) {
    side_column(status, view, state, out);
    if (info_fits(view)) info_panel(status, view, out);
    if (lab_fits(view)) lab_panel(status, view, state, out);
  }
  if (!panels_shown(view) || !lab_fits(view)) state.lab.covered = 0;
  if (view.presentation && view.panel) presentation_panel(status, view, state);
  const float captions_end = tab_captions(view, state);
  label_panel(view);
  picked_panel(status, view, state, captions_end, out);
  legend_panel(status, view, state);  // after the card, for which it leaves room
  if (view.lesson.shown && !view.presentation) lesson_panel(status, view, state, out);
  message_panel(status, view, state, out);
  if (view.help) help_panel(view, state, out);
  if (!view.quit_question.empty()) quit_panel(view, out);
  light_panel(view);
}

}  // namespace orrery
