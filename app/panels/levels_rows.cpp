#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

using theme::em;

/// The logarithms of the counts, so that few bodies on a deep level are seen beside many.
void level_bars(const LevelCounts& levels, int count, float time_step) {
  const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(2)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float width = size.x / static_cast<float>(level_count);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const float share = std::log1p(static_cast<float>(levels[level])) / std::log1p(static_cast<float>(count));
    const ImVec2 from{low.x + width * static_cast<float>(level), low.y}, to{from.x + 0.9f * width, low.y + size.y};
    draw.AddRectFilled(from, to, theme::track, em(0.2f));
    draw.AddRectFilled({from.x, to.y - size.y * share}, to, theme::accent, em(0.2f));
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to)) {
      show_tooltip(fmt::format("Level {}: {}", level, counted_bodies(levels[level])),
                   fmt::format("Steps of dt / {}, which is {:.4g}. Heights are logarithmic.", 1 << level,
                               std::ldexp(time_step, -static_cast<int>(level))));
    }
  }
  ImGui::Dummy(size);
  ui_mark("levels");
}

}  // namespace

void levels_rows(const Status& status) {
  if (!status.levels) return;
  row_label("Levels",
            "How many bodies have steps of dt, dt / 2, dt / 4 and so on, in the latest step. Colour the bodies by "
            "time-step class to see which.");
  level_bars(*status.levels, status.count, status.time_step);
  double steps = 0;
  for (std::size_t level = 0; level < level_count; ++level) {
    steps += std::ldexp((*status.levels)[level], static_cast<int>(level));
  }
  const int substeps = 1 << deepest_of(*status.levels);
  if (status.kernel && !status.kernel->takes_targets && substeps > 1) {
    wrapped_text(fmt::format("This kernel evaluates all bodies {} times per dt: it cannot evaluate some.", substeps),
                 theme::warn, theme::Font::small);
  } else {
    wrapped_text(fmt::format("{:.2f} evaluations of a body per dt; with equal steps it would take {}.",
                             steps / std::max(status.count, 1), substeps),
                 theme::dim, theme::Font::small);
  }
}

}  // namespace orrery
