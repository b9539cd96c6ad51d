#include "app/overlays/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/overlays/ink.h"

namespace orrery {
namespace {

struct AxisStyle {
  const char* name;
  Ink ink;
};
constexpr AxisStyle axis_styles[] = {{"x", {{0.98f, 0.42f, 0.40f}, {0.78f, 0.10f, 0.10f}}},
                                     {"y", {{0.52f, 0.86f, 0.40f}, {0.12f, 0.50f, 0.10f}}},
                                     {"z", {{0.46f, 0.64f, 1.00f}, {0.12f, 0.26f, 0.80f}}}};
constexpr float axis_px = 1.6f, tick_px = 1.3f, arrow_px = 7;
constexpr double tick_share = 0.16;    // of the picture's height that a tick may span at most
constexpr float mark_share = 0.009f;   // half the length of a tick mark, of the picture's height
constexpr float label_share = 0.024f;  // distance of a text from its place, of the picture's height
constexpr float least_gap = 0.05f;     // between two lengths, of the picture's height
constexpr int most_ticks = 12;
constexpr float past_last = 0.45f;  // of a tick: from the last mark to the end

std::array<float, 3> plain(glm::vec3 v) {
  return {v.x, v.y, v.z};
}

}  // namespace

Axes axes_of(glm::vec3 centre, float radius, const render::OrbitCamera& camera, int width, int height,
             render::Theme theme) {
  const float per_height = camera.world_per_height(), aspect = static_cast<float>(width) / static_cast<float>(height);
  Axes axes{.lines = {}, .labels = {}, .tick = round_length(tick_share * per_height)};
  const auto step = static_cast<float>(axes.tick);
  const int ticks = std::clamp(static_cast<int>(0.95f * radius / step - past_last), 1, most_ticks);
  const glm::vec3 toward = glm::normalize(camera.position() - camera.target());
  for (int axis = 0; axis < 3; ++axis) {
    const AxisStyle& style = axis_styles[axis];
    glm::vec3 along{0};
    along[axis] = 1;
    const auto line = [&](glm::vec3 from, glm::vec3 to, float from_px, float to_px, float opacity) {
      axes.lines.push_back({{from, from_px, style.ink.in(theme, opacity)}, {to, to_px, style.ink.in(theme, opacity)}});
    };
    const glm::vec3 end = centre + (static_cast<float>(ticks) + past_last) * step * along,
                    neck = end - 0.16f * step * along;
    line(centre, neck, axis_px, axis_px, 0.9f);
    line(neck, end, arrow_px, 0, 0.95f);

    const glm::vec3 across = glm::cross(along, toward);
    const float seen = glm::length(across);  // how long the axis looks
    const auto label = [&](glm::vec3 place, const std::string& text, bool strong) {
      const auto at = camera.seen_at(place, aspect);
      if (!at) return;
      axes.labels.push_back({.text = text,
                             .place = {0.5f + 0.5f * at->x, 0.5f - 0.5f * at->y},
                             .colour = plain(style.ink.in(theme)),
                             .strong = strong});
    };
    label(end + label_share * per_height * (seen > 0.2f ? along : glm::vec3{0}), style.name, true);
    if (!(seen > 0.05f)) continue;
    const glm::vec3 side = across / seen;
    const bool every_length = step * seen > least_gap * per_height;
    for (int k = 1; k <= ticks; ++k) {
      const glm::vec3 at = centre + static_cast<float>(k) * step * along;
      line(at - mark_share * per_height * side, at + mark_share * per_height * side, tick_px, tick_px, 0.9f);
      if (every_length || (k == ticks && seen > 0.2f)) {
        label(at + label_share * per_height * side, fmt::format("{:g}", k * axes.tick), false);
      }
    }
  }
  return axes;
}

}  // namespace orrery
