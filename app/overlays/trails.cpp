#include "app/overlays/trails.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/overlays/ink.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

constexpr Ink usual_ink{{0.62f, 0.74f, 0.98f}, {0.20f, 0.32f, 0.60f}},
    chosen{{1.0f, 0.86f, 0.52f}, {0.80f, 0.12f, 0.10f}};
constexpr float width_px = 1.3f, chosen_width_px = 2.4f;
constexpr float few_trails = 64;  // more trails are fainter, so that the bodies stay visible

glm::vec3 colour_of(const render::BodyState& body, const render::Appearance& appearance,
                    const render::ValueRange& speeds) {
  const bool by_speed = appearance.look == render::Look::lights && appearance.colour_by == render::ColourBy::speed;
  if (!by_speed) return usual_ink.in(appearance.theme);
  const auto maps = render::colour_maps();
  const auto map = static_cast<std::size_t>(render::shown_colour_map(appearance));
  const float speed = glm::length(glm::vec3{body.velocity});
  const float share = (speed - speeds.low) / std::max(speeds.high - speeds.low, 1e-30f);
  return render::srgb_from_linear(render::body_colour(maps[map], std::clamp(share, 0.0f, 1.0f), appearance.theme));
}

}  // namespace

double usual_trail_length(float radius, const render::ValueRanges& ranges) {
  constexpr double crossed = 0.6;  // radii
  const double speed = std::max(ranges.speed.high, 1e-30f);
  return std::clamp(crossed * radius / speed, 1e-30, 1e30);
}

std::vector<render::DrawnLine> trail_lines(const BodyTracks& tracks, double now, TrailsOf of, std::optional<int> picked,
                                           const render::Appearance& appearance, const render::ValueRanges& ranges) {
  std::vector<render::DrawnLine> lines;
  lines.reserve(tracks.tracks().size() * BodyTracks::most_points);
  const auto count = static_cast<float>(tracks.tracks().size());
  const float most = std::clamp(0.9f * std::sqrt(few_trails / count), 0.2f, 0.9f);
  std::array<float, BodyTracks::most_points + 1> fades{1};  // of the body's place now, and of the points before it
  for (std::size_t k = 1; k < fades.size(); ++k) {
    const double age = now - tracks.latest_point() + static_cast<double>(k - 1) * tracks.interval();
    const double left = 1 - age / (tracks.interval() * BodyTracks::most_points);
    fades[k] = std::pow(static_cast<float>(std::clamp(left, 0.0, 1.0)), 1.6f);
  }
  for (const auto& [index, track] : tracks.tracks()) {
    const bool is_picked = index == picked;
    if (of == TrailsOf::picked && !is_picked) continue;
    const glm::vec3 colour = is_picked ? chosen.in(appearance.theme) : colour_of(track.state, appearance, ranges.speed);
    const float width = is_picked ? chosen_width_px : width_px, strength = is_picked ? 1.0f : most;
    const auto end = [&](glm::vec3 place, float fade) {
      return render::LineEnd{place, width, {colour, strength * fade}};
    };
    render::LineEnd last = end(place_after(track, now - tracks.time()), fades[0]);
    std::size_t k = 1;
    for (auto point = track.points.rbegin(); point != track.points.rend(); ++point, ++k) {
      const render::LineEnd next = end(*point, fades[k]);
      lines.push_back({last, next});
      last = next;
    }
  }
  return lines;
}

}  // namespace orrery
