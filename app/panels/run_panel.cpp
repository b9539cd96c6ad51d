#include <imgui.h>

#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {

/// Also for the message of a stopped run.
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

}  // namespace orrery
