#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

using theme::em;

struct Figure {
  const char* mark;
  std::string number;
  const char* caption;
};

std::array<Figure, 5> figures_of(const Status& status, const ViewStatus& view) {
  const bool known = view.measured > 0 && view.step_ms_median > 0;
  const double rate = known ? status.interactions_per_step / (view.step_ms_median * 1e-3) : 0;
  return {{{"presentation.kernel", status.kernel_id, "kernel"},
           {"presentation.bodies", format_count(status.count), "bodies"},
           {"presentation.step", known ? format_ms(view.step_ms_median) : unknown, "per step"},
           {"presentation.rate", known ? format_rate(rate, "") : unknown, "interactions/s"},
           {"presentation.error", status.force_probe ? format_error(status.force_probe->error.median) : unknown,
            "median error"}}};
}

}  // namespace

float presentation_scale(float height) {
  constexpr float usual_height = 720, most = 3;
  return std::clamp(std::round(10 * SetPresentation::type_scale * height / usual_height) / 10, 1.0f, most);
}

void presentation_panel(const Status& status, const ViewStatus& view, PanelState& state) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float margin = em(0.75f), gap = em(1.4f);
  ImGui::SetNextWindowPos({margin, display.y - margin}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {std::max(display.x - 2 * margin, 1.0f), FLT_MAX});
  if (ImGui::Begin("Presentation", nullptr, base_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    const float room = display.x - 2 * (margin + ImGui::GetStyle().WindowPadding.x);
    float used = 0;
    for (const Figure& figure : figures_of(status, view)) {
      const float width = std::max(theme::text_width(figure.number, theme::Font::headline),
                                   theme::text_width(figure.caption, theme::Font::body));
      if (used > 0 && used + gap + width <= room) {
        ImGui::SameLine(0, gap);
        used += gap + width;
      } else {
        used = width;
      }
      ImGui::BeginGroup();
      text(figure.number, theme::text, theme::Font::headline);
      text(figure.caption, theme::dim);
      ImGui::EndGroup();
      ui_mark(figure.mark);
    }
    state.lab.covered = ImGui::GetWindowSize().y + margin;
    state.lab.right = margin + ImGui::GetWindowSize().x;
  }
  ImGui::End();
}

}  // namespace orrery
