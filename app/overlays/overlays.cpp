// Tracks of bodies, and the lines that are drawn of them: trails, arrows, axes.
#include "app/overlays/overlays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "app/ui_state/overlays_commands.h"
#include "compute/core/text.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

/// The cubic through both places with both velocities, at `share` of the way from the first to the second.
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
  if (!(sample.time > time_) && !tracks_.empty()) {  // perhaps with other bodies
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
  std::vector<double> shares;  // of the new points between the last reading and this one
  next_point_ = std::max(next_point_, sample.time - most_points * interval_);
  // An interval may be too short to change the time.
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
constexpr float few_trails = 64;  // more trails are fainter, so that the bodies stay visible

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
namespace {

/// Squares at equal places of the columns and rows share a sum: they are some heights of the picture apart.
constexpr int side_of_grid = 128;

/// The shares of a place in the four squares whose middles are nearest.
struct Shares {
  std::array<std::size_t, 4> squares{};
  std::array<float, 4> weights{};
};

/// `at` in sides of a square.
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

// Hues that few bodies have.
constexpr Ink of_velocity{{0.45f, 0.88f, 1.0f}, {0.0f, 0.36f, 0.62f}},
    of_acceleration{{0.50f, 1.0f, 0.42f}, {0.05f, 0.48f, 0.05f}};

constexpr float shaft_px = 1.2f, head_px = 6, picked_times = 1.8f;
constexpr float longest_arrow = 0.1f;  // of the picture's height
constexpr float usual_opacity = 0.8f;
constexpr float square = 0.04f;          // side, of the picture's height
constexpr float most_per_square = 1.8f;  // lengths of arrows, in those of the longest

/// Value of the quantity; none if it is not known or not finite.
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

namespace {

constexpr int most_sampled = 1024;

std::optional<int> picked_of(const ViewStatus& view) {
  return view.picked ? std::optional{view.picked->number} : std::nullopt;
}

TreeBoxes::Wanted boxes_of(const ViewStatus& view) {
  const Overlays& asked = view.overlays;
  const int walker = asked.walk.on ? picked_of(view).value_or(CellRequest::nobody) : CellRequest::nobody;
  return {asked.cells.on, asked.cells.level, walker, view.appearance.theme};
}

}  // namespace

std::optional<Command> OverlayPainter::due(double now_s, const Status& status, const ViewStatus& view) {
  return boxes_.due(now_s, status, boxes_of(view));
}

bool OverlayPainter::update(const OverlayScene& scene, const render::OrbitCamera& camera, const Status& status,
                            ViewStatus& view) {
  bool changed = boxes_.follow(status, boxes_of(view));
  boxes_.describe(view.legend);
  if (view.picked) view.picked->walk = boxes_.walk();
  changed |= follow_bodies(scene, view);
  const Shown shown{view.overlays, view.appearance, picked_of(view)};
  changed |= shown_ != shown;
  shown_ = shown;
  if (changed || scene.time != tracks_.time()) draw_trails(scene, view);
  draw_others(scene, camera, view);
  return changed;
}

/// Updates the tracks. Returns whether they changed.
bool OverlayPainter::follow_bodies(const OverlayScene& scene, const ViewStatus& view) {
  if (scene.history != history_ || scene.bodies.count < 1) {
    history_ = scene.history;
    if (readback_) readback_->cancel();
    read_time_.reset();
    tracks_.clear();
  }
  const Overlays& asked = view.overlays;
  const bool every = asked.trails.of == TrailsOf::sample || asked.vectors.quantity != Vectors::none;
  std::optional<int> picked = every || asked.trails.of == TrailsOf::picked ? picked_of(view) : std::nullopt;
  if (picked && *picked >= scene.bodies.count) picked.reset();
  std::vector<int> sample = sample_of(scene.bodies.count, every, picked);
  if (sample != sample_) {
    sample_ = std::move(sample);
    if (readback_) readback_->cancel();
    read_time_.reset();
  }
  if (sample_.empty()) {
    const bool had_some = !tracks_.tracks().empty();
    tracks_.clear();
    return had_some;
  }
  const double length = asked.trails.length > 0 ? asked.trails.length : lasting_trail_length(scene);
  return read_bodies(scene, length / BodyTracks::most_points);
}

/// Returns the default trail length, which changes only if it is wrong by a factor of 2: another length restarts the
/// tracks, and the ranges on which it depends change with the bodies.
double OverlayPainter::lasting_trail_length(const OverlayScene& scene) {
  const double usual = usual_trail_length(scene.radius, scene.ranges);
  const bool still_good = usual < 2 * trail_length_ && trail_length_ < 2 * usual;
  if (tracks_.tracks().empty() || !still_good) trail_length_ = usual;
  return trail_length_;
}

bool OverlayPainter::read_bodies(const OverlayScene& scene, double interval) {
  if (!readback_) readback_.emplace(most_sampled);
  const bool is_new = read_time_ != scene.time;
  if (lockstep_) {
    if (!is_new && interval == tracks_.interval()) return false;
    read_time_ = scene.time;
    tracks_.add(readback_->read(scene.bodies, sample_, scene.time), interval);
    return true;
  }
  const auto newest = readback_->poll();
  if (newest) tracks_.add(*newest, interval);
  if (is_new && readback_->request(scene.bodies, sample_, scene.time)) read_time_ = scene.time;
  return newest.has_value();
}

void OverlayPainter::draw_trails(const OverlayScene& scene, const ViewStatus& view) {
  const bool wanted = view.overlays.trails.of != TrailsOf::nobody;
  if (!wanted && !trails_drawn_) return;
  trails_drawn_ = wanted;
  if (!lines_) lines_.emplace();
  lines_->trails.set(
      wanted ? trail_lines(tracks_, scene.time, view.overlays.trails.of, picked_of(view), view.appearance, scene.ranges)
             : std::vector<render::DrawnLine>{});
}

void OverlayPainter::draw_others(const OverlayScene& scene, const render::OrbitCamera& camera, ViewStatus& view) {
  const Overlays& asked = view.overlays;
  const render::Theme theme = view.appearance.theme;
  view.labels.clear();
  if (asked.trails.of != TrailsOf::nobody && !tracks_.tracks().empty()) {
    view.legend.trail_length = static_cast<float>(BodyTracks::most_points * tracks_.interval());
  }
  std::vector<render::DrawnLine> lines;
  if (asked.vectors.quantity != Vectors::none) {
    const Vectors quantity = asked.vectors.quantity;
    Arrows arrows = arrows_of(tracks_, scene.time, quantity, picked_of(view), camera, theme);
    lines = std::move(arrows.lines);
    view.legend.arrows = {std::string{word_of(quantity)}, as_values(arrow_colour(quantity, theme))};
    view.legend.arrow_per_height = arrows.value_per_length * camera.world_per_height();
  }
  if (asked.axes.on && scene.canvas.width > 0 && scene.canvas.height > 0) {
    Axes axes = axes_of(scene.centre, scene.radius, camera, scene.canvas.width, scene.canvas.height, theme);
    lines.insert(lines.end(), axes.lines.begin(), axes.lines.end());
    view.labels = std::move(axes.labels);
    view.legend.tick = fmt::format("{:g}", axes.tick);
  }
  if (lines.empty() && !lines_) return;
  if (!lines_) lines_.emplace();
  lines_->others.set(lines);
}

void OverlayPainter::draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const {
  boxes_.draw(camera, canvas);
  if (!lines_) return;
  lines_->trails.draw(camera, canvas);
  lines_->others.draw(camera, canvas);
}

namespace {

// Cells are blue to cyan, and the boxes of a walk yellow to red. Colour-blind people can also tell these apart.
constexpr Ink outermost{{0.26f, 0.42f, 0.95f}, {0.10f, 0.20f, 0.70f}},
    innermost{{0.35f, 0.80f, 0.95f}, {0.0f, 0.50f, 0.70f}};
constexpr Ink whole{{0.95f, 0.88f, 0.25f}, {0.80f, 0.52f, 0.0f}},
    one_by_one{{1.0f, 0.30f, 0.55f}, {0.85f, 0.0f, 0.35f}};
constexpr float beside_a_walk = 0.6f;  // strength of cells during a walk, because many are also boxes of the walk
constexpr float few_boxes = 300;       // with more boxes, each is fainter, so that the bodies stay visible

float strength_of(std::size_t boxes) {
  return std::min(1.0f, std::sqrt(few_boxes / static_cast<float>(std::max<std::size_t>(boxes, 1))));
}

render::DrawnBox box_of(const TreeCell& cell, glm::vec4 colour) {
  const auto& [x, y, z] = cell.center;
  return {{x, y, z}, cell.half_size, colour};
}

using Boxes = std::vector<render::DrawnBox>;

Boxes boxes_of_cells(const TreeCells& read, std::span<const TreeCell> cells, render::Theme theme,
                     float share_of_strength) {
  Boxes boxes;
  const bool one_level = read.asked.level != CellRequest::every_level;
  const auto deepest = static_cast<float>(std::max(cells.empty() ? 0 : cells.back().level, 1));
  const float strength = share_of_strength * strength_of(cells.size()) * (theme == render::Theme::light ? 1.6f : 1.0f);
  for (const TreeCell& cell : cells) {
    const float depth = one_level ? 0.5f : static_cast<float>(cell.level) / deepest;
    boxes.push_back(
        box_of(cell, {TreeBoxes::cell_colour(depth, theme), std::min(glm::mix(0.40f, 0.18f, depth) * strength, 1.0f)}));
  }
  return boxes;
}

Boxes boxes_of_walk(std::span<const TreeCell> cells, glm::vec4 colour) {
  Boxes boxes;
  for (const TreeCell& cell : cells) boxes.push_back(box_of(cell, colour));
  return boxes;
}

/// Returns the cells, without the last level if only a part of it was read: those cells differ between reads.
std::span<const TreeCell> whole_levels(const TreeCells& read) {
  std::span<const TreeCell> cells = read.cells;
  if (read.asked.level != CellRequest::every_level || std::ssize(cells) == read.count) return cells;
  const int last = cells.empty() ? 0 : cells.back().level;
  while (!cells.empty() && last > 0 && cells.back().level == last) cells = cells.first(cells.size() - 1);
  return cells;
}

std::string legend_of(const TreeCells& read, std::span<const TreeCell> drawn) {
  const bool part = std::ssize(drawn) < read.count;
  const std::string cells = part ? fmt::format("{} of {}", format_count(std::ssize(drawn)), counted(read.count, "cell"))
                                 : counted(read.count, "cell");
  if (read.asked.level != CellRequest::every_level) {
    return fmt::format("level {}: {}", read.asked.level, read.count == 0 ? "no cells" : cells);
  }
  return fmt::format("levels 0 to {}: {}", drawn.empty() ? 0 : drawn.back().level, cells);
}

}  // namespace

glm::vec3 TreeBoxes::cell_colour(float depth, render::Theme theme) {
  return glm::mix(outermost.in(theme), innermost.in(theme), depth);
}

std::optional<Command> TreeBoxes::due(double now_s, const Status& status, const Wanted& wanted) {
  if (!wanted.anything() || status.non_finite || (status.busy && status.backend == Backend::cpu)) return {};
  if (!status.kernel->is_tree) return {};
  const ReadTreeCells read{wanted.cells ? most_cells : 1, wanted.cells ? wanted.level : CellRequest::every_level,
                           wanted.walk_of};
  const TreeCells* const known = status.tree_cells.get();
  const bool same = known && known->asked == CellRequest{read.most, read.level, read.walk_of};
  if (status.paused && (!status.tree || (same && known->step == status.step))) return {};
  if (same && asked_s_ && now_s - *asked_s_ < period_s) return {};
  asked_s_ = now_s;
  return read;
}

bool TreeBoxes::follow(const Status& status, const Wanted& wanted) {
  const std::shared_ptr<const TreeCells> read = wanted.anything() ? status.tree_cells : nullptr;
  if (read == drawn_ && wanted == wanted_) return false;
  drawn_ = read;
  wanted_ = wanted;
  legend_.clear();
  Boxes cells, whole_cells, leaves;
  const bool walks = read && read->walk && wanted.walk_of == read->asked.walk_of;
  if (read && wanted.cells) {
    const std::span<const TreeCell> drawn = whole_levels(*read);
    cells = boxes_of_cells(*read, drawn, wanted.theme, walks ? beside_a_walk : 1.0f);
    legend_ = legend_of(*read, drawn);
  }
  if (walks) {
    const BodyWalk& walk = *read->walk;
    whole_cells = boxes_of_walk(walk.cells, whole.in(wanted.theme, 0.6f * strength_of(walk.cells.size())));
    leaves = boxes_of_walk(walk.leaves, one_by_one.in(wanted.theme, 0.85f));
  }
  cells_.set(cells);
  whole_.set(whole_cells);
  leaves_.set(leaves);
  return true;
}

void TreeBoxes::draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const {
  for (const render::BoxRenderer* boxes : {&cells_, &whole_, &leaves_}) boxes->draw(camera, canvas);
}

void TreeBoxes::describe(Legend& legend) const {
  legend.cells = {legend_, as_values(cell_colour(0.5f, wanted_.theme))};
  if (!walk()) return;
  legend.walk = {{"cells met as a whole", as_values(whole.in(wanted_.theme))},
                 {"leaves met body by body", as_values(one_by_one.in(wanted_.theme))}};
}

std::optional<PickedBody::Walk> TreeBoxes::walk() const {
  if (!drawn_ || !drawn_->walk || wanted_.walk_of != drawn_->asked.walk_of) return {};
  return PickedBody::Walk{std::ssize(drawn_->walk->cells), drawn_->walk->bodies};
}

}  // namespace orrery
