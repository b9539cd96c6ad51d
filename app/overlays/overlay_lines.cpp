// Tracks of bodies, and the lines of the overlays: trails, arrows, axes.
#include "app/overlays/overlay_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "app/ui_state/overlays_commands.h"
#include "render/colour_map.h"

namespace orrery {

namespace {

/// Returns the cubic Hermite interpolation of the position at `share` (0 to 1) of `duration`.
glm::vec3 between(const render::BodyState& from, const render::BodyState& to, double duration, double share) {
  const auto s = static_cast<float>(share), t = static_cast<float>(duration);
  const float rest = 1 - s;
  return glm::vec3{from.position} * (rest * rest * (1 + 2 * s)) + glm::vec3{from.velocity} * (t * s * rest * rest) +
         glm::vec3{to.position} * (s * s * (1 + 2 * rest)) - glm::vec3{to.velocity} * (t * s * s * rest);
}

}  // namespace

void BodyTracks::add(const render::BodySample& sample, double interval) {
  if (sample.time < time_ || interval != interval_) clear();
  if (tracks_.empty()) {
    interval_ = interval;
    next_point_ = sample.time;
  }
  if (!(sample.time > time_) && !tracks_.empty()) {  // same time, perhaps other bodies
    std::map<int, Track> kept;
    for (const render::BodyState& body : sample.bodies) {
      const auto known = tracks_.find(body.index);
      kept[body.index] =
          known != tracks_.end() ? known->second : Track{.state = body, .acceleration = {}, .points = {}};
    }
    tracks_ = std::move(kept);
    return;
  }
  add_points(sample);
  time_ = sample.time;
}

void BodyTracks::add_points(const render::BodySample& sample) {
  const double duration = sample.time - time_;
  std::vector<double> shares;  // times of the new points, as shares of the time between the two readings
  next_point_ = std::max(next_point_, sample.time - most_points * interval_);
  // The number is bounded because an interval may be too short to change the time.
  for (int more = most_points; more >= 0 && next_point_ <= sample.time; --more, next_point_ += interval_) {
    shares.push_back(duration > 0 ? (next_point_ - time_) / duration : 1);
  }
  std::map<int, Track> next;
  for (const render::BodyState& body : sample.bodies) {
    const auto known = tracks_.find(body.index);
    Track track{.state = body, .acceleration = {}, .points = {}};
    if (known != tracks_.end()) {
      const render::BodyState& before = known->second.state;
      track.acceleration = (glm::vec3{body.velocity} - glm::vec3{before.velocity}) / static_cast<float>(duration);
      track.points = std::move(known->second.points);
      for (const double share : shares) track.points.push_back(between(before, body, duration, share));
      const auto over = std::max<std::ptrdiff_t>(std::ssize(track.points) - most_points, 0);
      track.points.erase(track.points.begin(), track.points.begin() + over);
    } else if (!shares.empty() && shares.back() == 1) {
      track.points.emplace_back(body.position);
    }
    next[body.index] = std::move(track);
  }
  tracks_ = std::move(next);
}

glm::vec3 place_after(const BodyTracks::Track& track, double later) {
  return glm::vec3{track.state.position} + static_cast<float>(later) * glm::vec3{track.state.velocity};
}

std::vector<int> sample_of(int count, bool every, std::optional<int> picked) {
  constexpr int most = 1023;
  std::vector<int> indices;
  const int stride = (count + most - 1) / most;
  for (int i = 0; every && i < count; i += stride) indices.push_back(i);
  if (picked && !(every && *picked % stride == 0)) indices.push_back(*picked);
  return indices;
}
namespace {

constexpr Ink usual_ink{{0.62f, 0.74f, 0.98f}, {0.20f, 0.32f, 0.60f}},
    chosen{{1.0f, 0.86f, 0.52f}, {0.80f, 0.12f, 0.10f}};

constexpr float width_px = 1.3f, chosen_width_px = 2.4f;
constexpr float few_trails = 64;  // with more trails, each is fainter, so that the bodies stay visible

glm::vec3 colour_of(const render::BodyState& body, const render::Appearance& appearance,
                    const render::ValueRange& speeds) {
  const bool by_speed = appearance.look == render::Look::lights && appearance.colour_by == &render::by_speed;
  if (!by_speed) return usual_ink.in(appearance.theme);
  const auto maps = render::colour_maps();
  const auto map = static_cast<std::size_t>(render::shown_colour_map(appearance));
  const float speed = glm::length(glm::vec3{body.velocity});
  const float share = (speed - speeds.low) / std::max(speeds.high - speeds.low, 1e-30f);
  return render::srgb_from_linear(render::body_colour(maps[map], std::clamp(share, 0.0f, 1.0f), appearance.theme));
}

}  // namespace

double usual_trail_length(float radius, const render::ValueRanges& ranges) {
  constexpr double crossed = 0.6;  // in radii of the scene
  const double speed = std::max(ranges.speed.high, 1e-30f);
  return std::clamp(crossed * radius / speed, 1e-30, 1e30);
}

std::vector<render::DrawnLine> trail_lines(const BodyTracks& tracks, double now, TrailsOf of, std::optional<int> picked,
                                           const render::Appearance& appearance, const render::ValueRanges& ranges) {
  std::vector<render::DrawnLine> lines;
  lines.reserve(tracks.tracks().size() * BodyTracks::most_points);
  const auto count = static_cast<float>(tracks.tracks().size());
  const float most = std::clamp(0.9f * std::sqrt(few_trails / count), 0.2f, 0.9f);
  std::array<float, BodyTracks::most_points + 1> fades{1};  // of the body's place now, then of earlier points
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
namespace {

/// Squares per side of the grid. Indices wrap around: squares 128 apart, several picture heights, share a sum.
constexpr int side_of_grid = 128;

/// Shares of a place in the four squares with the nearest centres, by bilinear weights.
struct Shares {
  std::array<std::size_t, 4> squares{};
  std::array<float, 4> weights{};
};

/// Returns the shares of the place `at`, in units of a square's side.
Shares shares_of(glm::vec2 at) {
  constexpr float outermost = 1e6f;
  at = glm::clamp(at, -outermost, outermost);
  const glm::vec2 low = glm::floor(at), part = at - low;
  const auto column = static_cast<unsigned>(static_cast<int>(low.x)),
             row = static_cast<unsigned>(static_cast<int>(low.y));
  Shares shares;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned right = i % 2, up = i / 2;
    shares.squares[i] = (row + up) % side_of_grid * side_of_grid + (column + right) % side_of_grid;
    shares.weights[i] = (right ? part.x : 1 - part.x) * (up ? part.y : 1 - part.y);
  }
  return shares;
}

}  // namespace

std::vector<float> crowd_around(std::span<const Amount> amounts, const render::OrbitCamera& camera, float side) {
  const glm::mat4 seen = camera.projection(1) * camera.view();
  std::vector<float> sums(side_of_grid * side_of_grid);
  std::vector<Shares> shares;
  shares.reserve(amounts.size());
  for (const auto& [place, amount] : amounts) {
    const glm::vec4 clip = seen * glm::vec4{place, 1};
    const glm::vec2 at = glm::vec2{clip} / (clip.w * 2 * side);
    shares.push_back(clip.w > 0 && std::isfinite(at.x + at.y) ? shares_of(at) : Shares{});
    for (std::size_t i = 0; i < 4; ++i) sums[shares.back().squares[i]] += shares.back().weights[i] * amount;
  }
  std::vector<float> crowds;
  crowds.reserve(amounts.size());
  for (const Shares& at : shares) {
    float crowd = 0;
    for (std::size_t i = 0; i < 4; ++i) crowd += at.weights[i] * sums[at.squares[i]];
    crowds.push_back(crowd);
  }
  return crowds;
}
namespace {

// Hues that few bodies have, so that arrows differ from bodies.
constexpr Ink of_velocity{{0.45f, 0.88f, 1.0f}, {0.0f, 0.36f, 0.62f}},
    of_acceleration{{0.50f, 1.0f, 0.42f}, {0.05f, 0.48f, 0.05f}};

constexpr float shaft_px = 1.2f, head_px = 6, picked_times = 1.8f;
constexpr float longest_arrow = 0.1f;  // as a share of the picture's height
constexpr float usual_opacity = 0.8f;
constexpr float square = 0.04f;          // side of a square, as a share of the picture's height
constexpr float most_per_square = 1.8f;  // total length of its arrows, in longest arrows

/// Returns the value of the quantity; none if it is not known or not finite.
std::optional<glm::vec3> value_of(const BodyTracks::Track& track, Vectors quantity) {
  const std::optional<glm::vec3> value =
      quantity == Vectors::velocity ? std::optional{glm::vec3{track.state.velocity}} : track.acceleration;
  return value && std::isfinite(glm::length(*value)) ? value : std::nullopt;
}

/// Returns the opacity of an arrow, 0 to 1, in a square whose arrows have the total length `crowd`. As many are drawn
/// as most_per_square allows. The others fade, always the same ones first, so that nothing flickers.
float share_drawn(int body, float crowd) {
  constexpr double golden = 0.6180339887498949;
  const double turns = golden * body, rank = turns - std::floor(turns);  // uniform between 0 and 1
  const float limit = most_per_square / std::max(crowd, 1e-6f);
  return std::clamp(1.5f - static_cast<float>(rank) / limit, 0.0f, 1.0f);
}

void add_arrow(glm::vec3 tail, glm::vec3 by, bool is_picked, float longest, glm::vec4 ink,
               std::vector<render::DrawnLine>& lines) {
  const float scale = is_picked ? picked_times : 1, length = glm::length(by);
  const float head = std::min(0.4f, 0.12f * longest * scale / length);  // length of the head, as a share of the arrow
  const float head_width = head_px * scale * std::min(1.0f, length / (0.35f * longest));  // narrower for short arrows
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
namespace {

struct AxisStyle {
  const char* name;
  Ink ink;
};

constexpr AxisStyle axis_styles[] = {{"x", {{0.98f, 0.42f, 0.40f}, {0.78f, 0.10f, 0.10f}}},
                                     {"y", {{0.52f, 0.86f, 0.40f}, {0.12f, 0.50f, 0.10f}}},
                                     {"z", {{0.46f, 0.64f, 1.00f}, {0.12f, 0.26f, 0.80f}}}};

constexpr float axis_px = 1.6f, tick_px = 1.3f, arrow_px = 7;
constexpr double tick_share = 0.16;    // largest distance of two ticks, as a share of the picture's height
constexpr float mark_share = 0.009f;   // half the length of a tick mark, as a share of the picture's height
constexpr float label_share = 0.024f;  // distance of a text from its place, as a share of the picture's height
constexpr float least_gap = 0.05f;     // smallest distance of two lengths, as a share of the picture's height
constexpr int most_ticks = 12;
constexpr float past_last = 0.45f;  // distance from the last mark to the axis' end, in ticks

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
    const float seen = glm::length(across);  // visible length of the unit axis, 0 to 1: 0 along the line of sight
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
