#include "app/panels/kit/progress_row.h"

#include <imgui.h>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"

namespace orrery {

using theme::em;

bool progress_row(const char* id, float share, const std::string& words, std::string_view present) {
  const float button = em(4.6f);
  ImGui::ProgressBar(share, {ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x, 0},
                     words.c_str());
  ui_mark(id, "progress");
  ImGui::SameLine();
  const std::string stop = std::string{id} + ".stop";
  const bool pressed = icon_button(stop.c_str(), Icon::stop, "Stop", {button, ImGui::GetFrameHeight()});
  wrapped_text(present, theme::dim, theme::Font::small);
  return pressed;
}

void written_rows(const char* id, std::span<const std::string> files, std::string_view error) {
  if (!error.empty()) wrapped_text(error, theme::bad, theme::Font::small);
  ui_mark(id, "error");
  for (const std::string& file : files) {
    wrapped_text("wrote " + file, theme::dim, theme::Font::small);
    tooltip(file);
  }
}

}  // namespace orrery
