#include "app/overlays/overlay_painter.h"

#include <fmt/format.h>

#include "app/overlays/ink.h"
#include "app/overlays/overlay_lines.h"
#include "app/ui_state/overlays_commands.h"

namespace orrery {
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

/// Returns whether the tracks changed.
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

/// Another length begins the tracks anew, and the ranges that the usual length is made of follow the bodies all the
/// time.
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

}  // namespace orrery
