#include <imgui.h>

#include <cfloat>

#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {

void label_panel(const ViewStatus& view) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImDrawList& draw = *ImGui::GetBackgroundDrawList();
  const bool light = view.appearance.theme == render::Theme::light;
  const ImU32 ground = light ? IM_COL32(255, 255, 255, 150) : IM_COL32(0, 0, 0, 150);
  for (const PictureLabel& label : view.labels) {
    ImFont* const font = theme::font(label.strong ? theme::Font::strong : theme::Font::small);
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, label.text.c_str());
    const ImVec2 at{label.place[0] * display.x - size.x / 2, label.place[1] * display.y - size.y / 2};
    const ImU32 colour = ImGui::ColorConvertFloat4ToU32({label.colour[0], label.colour[1], label.colour[2], 1});
    for (const float x : {-1.0f, 1.0f}) {
      for (const float y : {-1.0f, 1.0f})
        draw.AddText(font, font->FontSize, {at.x + x, at.y + y}, ground, label.text.c_str());
    }
    draw.AddText(font, font->FontSize, at, colour, label.text.c_str());
  }
}

}  // namespace orrery
