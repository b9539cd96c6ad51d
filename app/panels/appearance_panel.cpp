#include <imgui.h>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {

void appearance_panel(const Status&, const ViewStatus& view, Requests& out) {
  if (!section("appearance", "Appearance", false)) return;
  const render::Appearance& current = view.appearance;
  render::Appearance edited = current;

  row_label("Colour by", "The quantity that a body's colour shows.");
  const bool by_speed = current.colour_by == render::ColourBy::speed;
  if (ImGui::RadioButton("speed", by_speed)) edited.colour_by = render::ColourBy::speed;
  ui_mark("colour-by.speed");
  ImGui::SameLine();
  if (ImGui::RadioButton("mass", !by_speed)) edited.colour_by = render::ColourBy::mass;
  ui_mark("colour-by.mass");

  row_label("Colours", "The colour map, from low to high.");
  const std::size_t index = static_cast<std::size_t>(current.colour_map);
  if (begin_combo("colour-map", index < view.colour_maps.size() ? view.colour_maps[index].c_str() : "")) {
    for (std::size_t i = 0; i < view.colour_maps.size(); ++i) {
      if (ImGui::Selectable(view.colour_maps[i].c_str(), i == index)) edited.colour_map = static_cast<int>(i);
      ui_mark("colour-map", view.colour_maps[i]);
    }
    ImGui::EndCombo();
  }

  row_label("Exposure", "Scales the light before tone mapping. Ctrl-click to type a value.");
  if (const auto value = log_slider("exposure", current.exposure, 0.05f, 20.0f, "%.3g")) edited.exposure = *value;
  row_label("Sprite size", "Scales every body's sprite. Ctrl-click to type a value.");
  if (const auto value = log_slider("sprite-size", current.sprite_scale, 0.1f, 10.0f, "%.3g"))
    edited.sprite_scale = *value;
  row_label("Drawing",
            "Splats: compute shaders add up the bodies, fastest where the driver has 64-bit atomics. Sprites: the "
            "rasterizer draws each body. Both give the same picture.");
  const auto way = [&](const char* label, render::Drawing drawing) {
    if (ImGui::RadioButton(label, current.drawing == drawing)) edited.drawing = drawing;
    ui_mark("drawing", label);
  };
  way("auto", render::Drawing::automatic);
  ImGui::SameLine();
  way("splats", render::Drawing::splats);
  ImGui::SameLine();
  way("sprites", render::Drawing::sprites);
  if (!(edited == current)) out.push_back(SetAppearance{edited});

  bool vsync = view.vsync, fullscreen = view.fullscreen;
  if (ImGui::Checkbox("Wait for the display", &vsync)) out.push_back(SetVsync{vsync});
  ui_mark("vsync");
  tooltip("Vertical synchronization. If it is off, frames are drawn as fast as possible.");
  ImGui::SameLine();
  if (ImGui::Checkbox("Full screen", &fullscreen)) out.push_back(ToggleFullscreen{});
  ui_mark("fullscreen");
  const ImVec2 half{(ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2, 0};
  if (ImGui::Button("Frame all bodies", half)) out.push_back(FrameAll{});
  ui_mark("frame-all");
  ImGui::SameLine();
  if (ImGui::Button("Reset camera", half)) out.push_back(ResetCamera{});
  ui_mark("reset-camera");
}

}  // namespace orrery
