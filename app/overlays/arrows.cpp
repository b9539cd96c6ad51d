#include "app/overlays/arrows.h"

#include <algorithm>
#include <cmath>

#include "app/overlays/ink.h"

namespace orrery {
namespace {

constexpr Ink of_velocity{{0.45f, 0.88f, 1.0f}, {0.0f, 0.36f, 0.62f}},
    of_acceleration{{1.0f, 0.66f, 0.30f}, {0.72f, 0.30f, 0.0f}};
constexpr float shaft_px = 1.2f, head_px = 6, picked_times = 1.8f;
constexpr float few_arrows = 100;  // more arrows are fainter, so that the bodies stay visible

/// None if the quantity is not known or not finite.
std::optional<glm::vec3> value_of(const BodyTracks::Track& track, Vectors quantity) {
  const std::optional<glm::vec3> value =
      quantity == Vectors::velocity ? std::optional{glm::vec3{track.state.velocity}} : track.acceleration;
  return value && std::isfinite(glm::length(*value)) ? value : std::nullopt;
}

}  // namespace

Arrows arrows_of(const BodyTracks& tracks, double now, Vectors quantity, std::optional<int> picked, float longest,
                 render::Theme theme) {
  if (quantity == Vectors::none) return {};
  float most = 0;
  for (const auto& [index, track] : tracks.tracks()) {
    if (const auto value = value_of(track, quantity)) most = std::max(most, glm::length(*value));
  }
  if (!(most > 0) || !(longest > 0)) return {};
  Arrows arrows{.lines = {}, .value_per_length = most / longest};
  const Ink& ink = quantity == Vectors::velocity ? of_velocity : of_acceleration;
  const float usual =
      std::clamp(0.9f * std::pow(few_arrows / static_cast<float>(tracks.tracks().size()), 0.2f), 0.5f, 0.9f);
  for (const auto& [index, track] : tracks.tracks()) {
    const auto value = value_of(track, quantity);
    if (!value || *value == glm::vec3{0}) continue;
    const float scale = index == picked ? picked_times : 1, opacity = index == picked ? 1.0f : usual;
    const glm::vec3 tail = place_after(track, now - tracks.time()), by = *value / arrows.value_per_length;
    const float length = glm::length(by);
    const float head = std::min(0.4f, 0.12f * longest * scale / length);                    // share of the arrow
    const float head_width = head_px * scale * std::min(1.0f, length / (0.35f * longest));  // short ones: narrow
    const glm::vec3 neck = tail + (1 - head) * by;
    arrows.lines.push_back(
        {{tail, scale * shaft_px, ink.in(theme, 0.25f * opacity)}, {neck, scale * shaft_px, ink.in(theme, opacity)}});
    arrows.lines.push_back({{neck, head_width, ink.in(theme, opacity)}, {tail + by, 0, ink.in(theme, opacity)}});
  }
  return arrows;
}

}  // namespace orrery
