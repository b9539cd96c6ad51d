#include "app/overlays/overlay_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/overlays/overlay_lines.h"
#include "app/ui_state/overlays_commands.h"
#include "compute/core/text.h"

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
