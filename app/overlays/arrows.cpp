#include "app/overlays/arrows.h"

#include <algorithm>
#include <cmath>

#include "app/overlays/crowding.h"
#include "app/overlays/ink.h"

namespace orrery {
namespace {

// Hues that few bodies have.
constexpr Ink of_velocity{{0.45f, 0.88f, 1.0f}, {0.0f, 0.36f, 0.62f}},
    of_acceleration{{0.50f, 1.0f, 0.42f}, {0.05f, 0.48f, 0.05f}};
constexpr float shaft_px = 1.2f, head_px = 6, picked_times = 1.8f;
constexpr float longest_arrow = 0.1f;  // of the picture's height
constexpr float usual_opacity = 0.8f;
constexpr float square = 0.04f;          // side, of the picture's height
constexpr float most_per_square = 1.8f;  // lengths of arrows, in those of the longest

/// None if the quantity is not known or not finite.
std::optional<glm::vec3> value_of(const BodyTracks::Track& track, Vectors quantity) {
  const std::optional<glm::vec3> value =
      quantity == Vectors::velocity ? std::optional{glm::vec3{track.state.velocity}} : track.acceleration;
  return value && std::isfinite(glm::length(*value)) ? value : std::nullopt;
}

/// How much of an arrow is drawn where all of them together would have the length `crowd` in a square: as many are
/// drawn as most_per_square allows. The others fade, always the same ones first, so that nothing flickers.
float share_drawn(int body, float crowd) {
  constexpr double golden = 0.6180339887498949;
  const double turns = golden * body, rank = turns - std::floor(turns);  // even between 0 and 1
  const float limit = most_per_square / std::max(crowd, 1e-6f);
  return std::clamp(1.5f - static_cast<float>(rank) / limit, 0.0f, 1.0f);
}

void add_arrow(glm::vec3 tail, glm::vec3 by, bool is_picked, float longest, glm::vec4 ink,
               std::vector<render::DrawnLine>& lines) {
  const float scale = is_picked ? picked_times : 1, length = glm::length(by);
  const float head = std::min(0.4f, 0.12f * longest * scale / length);                    // share of the arrow
  const float head_width = head_px * scale * std::min(1.0f, length / (0.35f * longest));  // short ones: narrow
  const glm::vec3 neck = tail + (1 - head) * by;
  lines.push_back({{tail, scale * shaft_px, {glm::vec3{ink}, 0.25f * ink.a}}, {neck, scale * shaft_px, ink}});
  lines.push_back({{neck, head_width, ink}, {tail + by, 0, ink}});
}

}  // namespace

glm::vec3 arrow_colour(Vectors quantity, render::Theme theme) {
  return (quantity == Vectors::velocity ? of_velocity : of_acceleration).in(theme);
}

Arrows arrows_of(const BodyTracks& tracks, double now, Vectors quantity, std::optional<int> picked,
                 const render::OrbitCamera& camera, render::Theme theme) {
  if (quantity == Vectors::none) return {};
  float most = 0;
  for (const auto& [index, track] : tracks.tracks()) {
    if (const auto value = value_of(track, quantity)) most = std::max(most, glm::length(*value));
  }
  const float longest = longest_arrow * camera.world_per_height();
  if (!(most > 0) || !(longest > 0)) return {};
  Arrows arrows{.lines = {}, .value_per_length = most / longest};
  struct Wanted {
    int index;
    glm::vec3 tail, by;
  };
  std::vector<Wanted> all;
  std::vector<Amount> amounts;
  for (const auto& [index, track] : tracks.tracks()) {
    const auto value = value_of(track, quantity);
    if (!value || *value == glm::vec3{0}) continue;
    const Wanted arrow{index, place_after(track, now - tracks.time()), *value / arrows.value_per_length};
    amounts.push_back({arrow.tail + 0.5f * arrow.by, glm::length(arrow.by) / longest});
    all.push_back(arrow);
  }
  const std::vector<float> crowds = crowd_around(amounts, camera, square);
  const glm::vec3 colour = arrow_colour(quantity, theme);
  auto crowd = crowds.begin();
  for (const auto& [index, tail, by] : all) {
    const float around = *crowd++;
    const bool is_picked = index == picked;
    const float opacity = is_picked ? 1 : usual_opacity * share_drawn(index, around);
    if (opacity > 0) add_arrow(tail, by, is_picked, longest, {colour, opacity}, arrows.lines);
  }
  return arrows;
}

}  // namespace orrery
