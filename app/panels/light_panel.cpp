#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/text/progress.h"

namespace orrery {
namespace {

using theme::em;

struct Light {
  const char* id;
  std::string words, file;
  const char* how_to_stop;
};

std::vector<Light> lights_of(const ViewStatus& view) {
  std::vector<Light> lights;
  if (!view.in_window) return lights;
  if (view.recording.active) {
    lights.push_back({"recording", "recording  " + counted(view.recording.rows, "row"), view.recording.file,
                      "F5 stops the recording."});
  }
  if (view.film.active) {
    lights.push_back(
        {"filming", "filming  " + counted(view.film.pictures, "picture"), view.film.file, "F6 completes the film."});
  }
  return lights;
}

/// Of the window around the lights.
float lights_height(std::size_t lights) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const auto lines = static_cast<float>(lights);
  return lines > 0 ? lines * em(1) + (lines - 1) * style.ItemSpacing.y + 2 * style.WindowPadding.y : 0;
}

/// The dot alone, with its window.
float dot_width() {
  return em(0.7f) + 2 * ImGui::GetStyle().WindowPadding.x;
}

/// From the side column to the right edge, or the whole width if the column leaves too little.
float lights_room(const ViewStatus& view) {
  const float whole = ImGui::GetIO().DisplaySize.x - em(0.75f);
  return whole - (lights_cover_column(view) ? 0 : side_column_width(view));
}

void draw_light(const Light& light, bool with_words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.35f), at.y + em(0.5f)}, em(0.32f), theme::bad);
  ImGui::BeginGroup();
  ImGui::Dummy({em(0.7f), em(1)});
  if (with_words) {
    ImGui::SameLine(0, em(0.4f));
    text(light.words);
  }
  ImGui::EndGroup();
  ui_mark(light.id);
  tooltip(with_words ? light.file : light.words, light.how_to_stop);
}

}  // namespace

bool lights_cover_column(const ViewStatus& view) {
  const float beside = ImGui::GetIO().DisplaySize.x - side_column_width(view) - em(0.75f);
  return !lights_of(view).empty() && beside < dot_width();
}

float strip_end(const ViewStatus& view) {
  return side_column_width(view) > 0 && info_fits(view) ? em(3.6f) : em(0.75f);
}

float stage_top(const ViewStatus& view) {
  const float height = lights_height(lights_of(view).size());
  return strip_end(view) + (height > 0 ? height + em(0.4f) : 0);
}

void light_panel(const ViewStatus& view) {
  const std::vector<Light> lights = lights_of(view);
  if (lights.empty()) return;
  float words = 0;
  for (const Light& light : lights) words = std::max(words, ImGui::CalcTextSize(light.words.c_str()).x);
  const bool with_words = dot_width() + em(0.4f) + words <= lights_room(view);
  ImGui::SetNextWindowPos({ImGui::GetIO().DisplaySize.x - em(0.75f), strip_end(view)}, ImGuiCond_Always, {1, 0});
  if (ImGui::Begin("Lights", nullptr, fixed_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    for (const Light& light : lights) draw_light(light, with_words);
  }
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  ImGui::End();
}

}  // namespace orrery
